/* Rules B3 to B5: gradients of broadcast operands, of values that were
 * changed, and of gradients. */
#include "config.h"

#include <string.h>

#include "conformance/values.h"

static void run_broadcast(void)
{
  tn_tensor *x = tn_requires_grad_(conform_ramp(TN_SHAPE(2, 3)), true);
  tn_tensor *row = conform_leaf(3, 2), *one = conform_leaf(1, 5);
  tn_tensor *column = tn_requires_grad_(conform_ramp(TN_SHAPE(2, 1)), true);
  tn_tensor *y = tn_add(tn_mul(tn_add(x, column), row), one);
  conform_ok(tn_backward(tn_sum(y)), "a backward pass");
  conform_are(tn_grad(x), CONFORM_VALUES(2, 2, 2, 2, 2, 2),
              "of the whole operand");
  conform_are(tn_grad(row), CONFORM_VALUES(4, 6, 8), "of a row");
  conform_are(tn_grad(column), CONFORM_VALUES(6, 6), "of a column");
  conform_are(tn_grad(one), CONFORM_VALUES(6), "of one element");
  conform_ok(tn_backward(tn_sum(tn_mul(row, one))), "a second pass");
  conform_are(tn_grad(row), CONFORM_VALUES(9, 11, 13), "gradients add up");
}

/* ---- B4 ---- */

static void spoiled(tn_tensor *loss, const char *operation, const char *how)
{
  tn_clear_error();
  conform_is(tn_backward(loss), TN_MODIFIED_IN_PLACE, "%s", how);
  conform_error_has(operation, "%s", how);
}

static void run_changed(void)
{
  tn_tensor *x = conform_leaf(4, 3);
  tn_tensor *y = tn_mul_scalar(x, 1), *z = tn_sum(tn_mul(y, y));
  tn_add_scalar_(y, 1);
  spoiled(z, "mul", "a factor that was changed");
  y = tn_exp(x);
  z = tn_sum(y);
  tn_mul_scalar_(y, 2);
  spoiled(z, "exp", "a result that was changed");
  y = tn_mul_scalar(x, 1);
  z = tn_sum(tn_mul(y, y));
  tn_zero_(tn_select(y, 0, 1));
  spoiled(z, "mul", "a factor of which a view was changed");
  y = tn_mul_scalar(x, 1);
  z = tn_sum(tn_add_scalar(y, 1));
  tn_add_scalar_(y, 1);
  conform_ok(tn_backward(z), "what was not saved may change");
  conform_is_all(tn_grad(x), 1, "its gradient");
}

static void run_views(void)
{
  tn_tensor *x = conform_leaf(4, 3), *y = tn_mul_scalar(x, 2);
  tn_tensor *part = tn_slice(y, 0, 1, 3, 1);
  uint64_t before = tn_tensor_version(y);
  tn_mul_scalar_(part, 5);
  conform_check(tn_tensor_version(y) > before &&
                    tn_tensor_version(y) == tn_tensor_version(part),
                "a view and what it is of count changes together");
  conform_ok(tn_backward(tn_sum(y)), "a backward pass");
  conform_are(tn_grad(x), CONFORM_VALUES(2, 10, 10, 2),
              "a change by a view is differentiated");
}

/* ---- B5 ---- */

static tn_tensor *cube(tn_tensor *x) { return tn_mul(tn_mul(x, x), x); }

static void run_second(void)
{
  static const struct {
    const char *name;
    tn_tensor *(*of)(tn_tensor *);
    double second; /* derivative at 2 */
  } of[] = { { "x x x", cube, 12 }, { "1 / x", tn_reciprocal, 0.25 },
             { "relu", tn_relu, 0 } };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    tn_tensor *x = conform_leaf(3, 2), *grad = NULL, *twice = NULL;
    tn_tensor *y = tn_sum(of[i].of(x));
    conform_ok(tn_grad_of(&y, 1, &x, 1, &grad, .create_graph = true),
               "the first derivative of %s", of[i].name);
    y = tn_sum(grad);
    if (!tn_requires_grad(y)) continue;
    conform_ok(tn_grad_of(&y, 1, &x, 1, &twice, .allow_unused = true),
               "the second derivative of %s", of[i].name);
    if (twice)
      conform_is_all(twice, of[i].second, "the second derivative of %s",
                     of[i].name);
    else conform_check(of[i].second == 0, "%s has a second derivative",
                       of[i].name);
  }
}

static tn_status pass_on(tn_function_context *context,
                         tn_tensor *const *inputs, int n_inputs,
                         tn_tensor **outputs, int n_outputs)
{
  (void)n_inputs, (void)n_outputs;
  outputs[0] = tn_mul(inputs[0], inputs[0]);
  tn_status status = tn_context_save(context, inputs[0]);
  return outputs[0] ? status : tn_last_status();
}

static tn_status pass_back(tn_function_context *context,
                           tn_tensor *const *grads, int n_outputs,
                           tn_tensor **results, int n_inputs)
{
  (void)n_outputs, (void)n_inputs;
  tn_tensor *x = tn_context_saved(context, 0);
  results[0] = tn_mul(tn_mul_scalar(x, 2), grads[0]);
  return results[0] ? TN_OK : tn_last_status();
}

static const tn_function square = { "square", pass_on, pass_back, NULL };

/* An operation that cannot be differentiated twice says so, or does it. */
static void run_refused(void)
{
  tn_tensor *q = tn_requires_grad_(conform_ramp(TN_SHAPE(1, 4, 2)), true);
  tn_tensor *y = tn_sum(tn_scaled_dot_product_attention(q, q, q, NULL, false,
                                                        0));
  tn_tensor *grad = NULL, *twice = NULL, *x = conform_leaf(3, 2);
  conform_made(y, "attention");
  tn_clear_error();
  tn_status status = tn_grad_of(&y, 1, &q, 1, &grad, .create_graph = true);
  conform_is(status, TN_UNSUPPORTED, "the gradient of attention's gradient");
  conform_check(tn_error_message()[0] != 0, "the reason is told");
  conform_check(grad == NULL, "nothing is returned with it");
  conform_ok(tn_function_apply(&square, NULL, &x, 1, &y, 1), "a function");
  y = tn_sum(y);
  status = tn_grad_of(&y, 1, &x, 1, &grad, .create_graph = true);
  if (status == TN_UNSUPPORTED) return;
  conform_ok(status, "the gradient of a function of the program");
  y = tn_sum(grad);
  conform_ok(tn_grad_of(&y, 1, &x, 1, &twice), "its gradient");
  conform_is_all(twice, 2, "the second derivative of a function");
}

static void run_once(void)
{
  tn_tensor *x = conform_leaf(3, 2), *y = tn_sum(cube(x));
  conform_ok(tn_backward(y), "a backward pass");
  tn_clear_error();
  conform_is(tn_backward(y), TN_INVALID_ARGUMENT, "a second pass, what was "
             "saved being freed");
  conform_error_has("retain_graph", "a second pass");
  conform_is_all(tn_grad(x), 12, "the gradient of the first one");
}

#define V CONFORM_TENSOR_BIT
static const conform_test tests[] = {
  { "B3", "broadcast", CONFORM_FULL, V, false,
    "broadcast dimensions are summed back", run_broadcast },
  { "B4", "changed", CONFORM_FULL, V, false,
    "a saved value that was changed is refused, naming the operation",
    run_changed },
  { "B4", "views", CONFORM_FULL, V, false,
    "views share a version, and changes by them are differentiated",
    run_views },
  { "B5", "second", CONFORM_FULL, V, false,
    "second derivatives", run_second },
  { "B5", "refused", CONFORM_FULL, V, false,
    "what has none is refused", run_refused },
  { "B5", "once", CONFORM_FULL, V, false,
    "a second pass needs what the first was to keep", run_once },
};
CONFORM_SECTION(conform_backward, tests);
