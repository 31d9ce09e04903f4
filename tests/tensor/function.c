/* Operations of the program's own (rules B4, B5, R68). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;
static int forgotten;

static void count_forgotten(void *data)
{
  (void)data;
  forgotten++;
}

static tn_tensor *leaf3(float a, float b, float c)
{
  float values[] = { a, b, c };
  return tn_requires_grad_(tn_from_data(values, TN_SHAPE(3),
                                        .device = device), true);
}

static const char *text_of(tn_tensor *t)
{
  static char line[200];
  float values[16];
  size_t used = 0;
  line[0] = '\0';
  if (!t) return "NULL";
  if (tn_numel(t) > 16 ||
      tn_read(t, values, (size_t)tn_numel(t) * sizeof *values) != TN_OK)
    return "unreadable";
  for (int64_t i = 0; i < tn_numel(t); i++)
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%g",
                             i ? " " : "", (double)values[i]);
  return line;
}

static tn_tensor *apply(const tn_function *function, void *data, tn_tensor *x)
{
  tn_tensor *y;
  return tn_function_apply(function, data, &x, 1, &y, 1) == TN_OK ? y : NULL;
}

/* ---- exp that saves its result ---- */

static tn_status exp_forward(tn_function_context *context,
                             tn_tensor *const *inputs, int n_inputs,
                             tn_tensor **outputs, int n_outputs)
{
  (void)n_inputs;
  (void)n_outputs;
  if (tn_is_grad_enabled())
    return tn_set_error(TN_INVALID_ARGUMENT, "gradients are on");
  outputs[0] = tn_exp(inputs[0]);
  if (!outputs[0]) return tn_last_status();
  return tn_context_save(context, outputs[0]);
}

static tn_status exp_backward(tn_function_context *context,
                              tn_tensor *const *grads, int n_outputs,
                              tn_tensor **results, int n_inputs)
{
  (void)n_outputs;
  (void)n_inputs;
  results[0] = tn_mul(grads[0], tn_context_saved(context, 0));
  return results[0] ? TN_OK : tn_last_status();
}

static const tn_function own_exp = { "own_exp", exp_forward, exp_backward,
                                     count_forgotten };

static void test_own_exp(void)
{
  tn_tensor *x = leaf3(0, 0, 0), *y;
  forgotten = 0;
  tn_with_scope {
    y = apply(&own_exp, NULL, x);
    tap_is_text(text_of(y), "1 1 1", "B4 a function of one's own");
    tap_is_text(tn_grad_fn_name(y), "own_exp", "B4 by its name");
    tn_backward(tn_sum(y));
    tap_is_text(text_of(tn_grad(x)), "1 1 1", "B4 and its gradient");
    tap_is_int(forgotten, 1, "B4 its data is forgotten after the pass");
    tap_ok(tn_backward(tn_sum(y)) == TN_INVALID_ARGUMENT &&
           strstr(tn_error_message(), "backward of own_exp"),
           "B4 a second pass is refused: %s", tn_error_message());
    tn_clear_error();
  }
  tap_is_int(forgotten, 1, "B4 once");
  tn_with_scope tn_no_grad apply(&own_exp, NULL, x);
  tap_is_int(forgotten, 2, "B4 without gradients at once");
  tn_with_scope apply(&own_exp, NULL, x);
  tap_is_int(forgotten, 3, "B4 without a pass with the graph");
}

static void test_repeated(void)
{
  tn_tensor *x = leaf3(0, 1, 2), *g = NULL;
  tn_tensor *y = tn_sum(apply(&own_exp, NULL, tn_mul_scalar(x, 2)));
  for (int i = 1; i <= 4; i++) {
    tap_ok(tn_grad_of(&y, 1, &x, 1, &g, .create_graph = true) == TN_OK,
           "R68 a function that saves its result, derivative %d", i);
    float values[3] = { 0 };
    if (g) tn_read(g, values, sizeof values);
    tap_ok(fabsf(values[1] / (ldexpf(1, i) * expf(2)) - 1) < 1e-5f,
           "R68 is right: %g", (double)values[1]);
    y = tn_sum(g);
  }
}

static void test_spoiled(void)
{
  tn_tensor *x = leaf3(0, 1, 2), *y = apply(&own_exp, NULL, x);
  tn_zero_(y);
  tap_ok(tn_backward(tn_sum(y)) == TN_OK && !tn_grad(x),
         "B4 a result that was overwritten has no gradient of its past");
  y = apply(&own_exp, NULL, x);
  tn_mul_scalar_(y, 2);
  tap_ok(tn_backward(tn_sum(y)) == TN_MODIFIED_IN_PLACE &&
         strstr(tn_error_message(), "backward of own_exp"),
         "B4 a saved result that was changed: %s", tn_error_message());
  tn_clear_error();
}

/* ---- two outputs, one without a gradient, data ---- */

typedef struct split_data {
  int passes;
  bool needs[2];
} split_data;

static tn_status split_forward(tn_function_context *context,
                               tn_tensor *const *inputs, int n_inputs,
                               tn_tensor **outputs, int n_outputs)
{
  split_data *data = tn_context_data(context);
  for (int i = 0; i < n_inputs && i < 2; i++)
    data->needs[i] = tn_context_needs_grad(context, i);
  outputs[0] = tn_mul_scalar(inputs[0], 2);
  outputs[1] = tn_mul_scalar(inputs[1], 3);
  if (n_outputs > 2) outputs[2] = tn_add(inputs[0], inputs[1]);
  return n_outputs > 2 ? tn_context_mark_no_grad(context, outputs[2])
                       : TN_OK;
}

static tn_status split_backward(tn_function_context *context,
                                tn_tensor *const *grads, int n_outputs,
                                tn_tensor **results, int n_inputs)
{
  split_data *data = tn_context_data(context);
  data->passes++;
  for (int i = 0; i < n_outputs; i++)
    if (!grads[i]) return tn_set_error(TN_INVALID_ARGUMENT, "NULL");
  results[0] = tn_mul_scalar(grads[0], 2);
  if (n_inputs > 1) results[1] = tn_mul_scalar(grads[1], 3);
  return TN_OK;
}

static const tn_function split = { "split", split_forward, split_backward,
                                   count_forgotten };

static void test_outputs(void)
{
  split_data data = { 0 };
  tn_tensor *inputs[] = { leaf3(1, 2, 3), tn_ones(TN_SHAPE(3),
                                                  .device = device) };
  tn_tensor *y[3];
  tap_ok(tn_function_apply(&split, &data, inputs, 2, y, 3) == TN_OK,
         "B4 three outputs");
  tap_ok(data.needs[0] && !data.needs[1],
         "B4 forward knows which inputs need gradients");
  tap_ok(tn_requires_grad(y[0]) && tn_requires_grad(y[1]) &&
         !tn_requires_grad(y[2]), "B4 one of them is marked to have none");
  tn_backward(tn_sum(y[1]));
  tap_is_text(text_of(tn_grad(inputs[0])), "0 0 0",
              "B4 an output without influence has gradient 0");
  tap_is_int(data.passes, 1, "B4 backward ran");
  tn_function_apply(&split, &data, inputs, 2, y, 3);
  tn_backward(tn_sum(tn_mul(y[0], y[1])));
  tap_is_text(text_of(tn_grad(inputs[0])), "6 6 6",
              "B4 gradients of several outputs come together");
  tap_is_int(data.passes, 2, "B4 in one call");
}

/* ---- in place ---- */

static tn_status twice_forward(tn_function_context *context,
                               tn_tensor *const *inputs, int n_inputs,
                               tn_tensor **outputs, int n_outputs)
{
  (void)n_inputs;
  (void)n_outputs;
  tn_status status = tn_context_mark_dirty(context, inputs[0]);
  if (status != TN_OK) return status;
  outputs[0] = tn_mul_scalar_(inputs[0], 2);
  return outputs[0] ? TN_OK : tn_last_status();
}

static tn_status twice_backward(tn_function_context *context,
                                tn_tensor *const *grads, int n_outputs,
                                tn_tensor **results, int n_inputs)
{
  (void)context;
  (void)n_outputs;
  (void)n_inputs;
  results[0] = tn_mul_scalar(grads[0], 2);
  return results[0] ? TN_OK : tn_last_status();
}

static const tn_function twice = { "twice", twice_forward, twice_backward,
                                   NULL };

static void test_dirty(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = tn_mul_scalar(x, 1);
  tap_ok(apply(&twice, NULL, y) == y, "B4 a function that works in place");
  tn_backward(tn_sum(tn_mul(y, y)));
  tap_is_text(text_of(tn_grad(x)), "8 16 24", "B4 has the right gradient");
  tn_set_grad(x, NULL);
  y = tn_mul_scalar(x, 1);
  tap_ok(apply(&twice, NULL, tn_slice(y, 0, 0, 2, 1)), "B4 on a view");
  tn_backward(tn_sum(y));
  tap_is_text(text_of(tn_grad(x)), "2 2 1", "B4 too");
  tap_ok(!apply(&twice, NULL, x) &&
         strstr(tn_error_message(), "twice: a leaf that requires"),
         "B4 not on a leaf: %s", tn_error_message());
  tap_is_text(text_of(x), "1 2 3", "B4 which is unchanged");
  tn_clear_error();
}

/* ---- what functions do wrong ---- */

enum { NO_OUTPUT, FAILS, SAVES_INNER, SAVES_LATE, GIVES_INPUT, GIVES_LITTLE };

static tn_status wrong_forward(tn_function_context *context,
                               tn_tensor *const *inputs, int n_inputs,
                               tn_tensor **outputs, int n_outputs)
{
  int *how = tn_context_data(context);
  (void)n_inputs;
  (void)n_outputs;
  if (*how == NO_OUTPUT) return TN_OK;
  outputs[0] = *how == GIVES_INPUT ? inputs[0] : tn_mul_scalar(inputs[0], 2);
  if (*how == FAILS) return tn_set_error(TN_UNSUPPORTED, "on purpose");
  if (*how == SAVES_INNER)
    return tn_context_save(context, tn_mul_scalar(inputs[0], 3));
  return TN_OK;
}

static tn_status wrong_backward(tn_function_context *context,
                                tn_tensor *const *grads, int n_outputs,
                                tn_tensor **results, int n_inputs)
{
  int *how = tn_context_data(context);
  (void)n_outputs;
  (void)n_inputs;
  if (*how == SAVES_LATE) return tn_context_save(context, grads[0]);
  if (*how == GIVES_LITTLE)
    results[0] = tn_slice(grads[0], 0, 0, 2, 1);
  else
    results[0] = grads[0];
  return TN_OK;
}

static const tn_function wrong = { "wrong", wrong_forward, wrong_backward,
                                   count_forgotten };

static void refuse_forward(int how, tn_status status, const char *part)
{
  forgotten = 0;
  tap_ok(!apply(&wrong, &how, leaf3(1, 2, 3)) && tn_last_status() == status &&
         strstr(tn_error_message(), part), "B4 refused: %s",
         tn_error_message());
  tap_is_int(forgotten, 1, "B4 and its data is forgotten");
  tn_clear_error();
}

static void refuse_backward(int how, tn_status status, const char *part)
{
  tn_tensor *y = apply(&wrong, &how, leaf3(1, 2, 3));
  tap_ok(y && tn_backward(tn_sum(y)) == status &&
         strstr(tn_error_message(), part), "B4 refused in backward: %s",
         tn_error_message());
  tn_clear_error();
}

static void test_wrong(void)
{
  size_t before = tn_memory_allocated(device);
  tn_with_scope {
    refuse_forward(NO_OUTPUT, TN_INVALID_ARGUMENT, "no output 0");
    refuse_forward(FAILS, TN_UNSUPPORTED, "on purpose");
    refuse_forward(SAVES_INNER, TN_INVALID_ARGUMENT,
                   "neither input nor output");
    refuse_backward(SAVES_LATE, TN_INVALID_ARGUMENT, "only in forward");
    refuse_backward(GIVES_LITTLE, TN_SHAPE_MISMATCH, "[2]");
    int how = GIVES_INPUT;
    tn_tensor *x = leaf3(1, 2, 3), *y = apply(&wrong, &how, x);
    tap_ok(y && y != x && !tn_is_leaf(y),
           "B4 an input as output is another tensor");
    tn_backward(tn_sum(y));
    tap_is_text(text_of(tn_grad(x)), "1 1 1", "B4 with a gradient");
    tap_ok(tn_function_apply(NULL, NULL, &x, 1, &y, 1) ==
           TN_INVALID_ARGUMENT, "B4 no function: %s", tn_error_message());
    tn_clear_error();
  }
  tap_ok(tn_memory_allocated(device) == before, "B4 nothing is left over");
}

/* ---- a pass within a pass ---- */

/* Forward without a graph; backward computes it again. */
static tn_status again_forward(tn_function_context *context,
                               tn_tensor *const *inputs, int n_inputs,
                               tn_tensor **outputs, int n_outputs)
{
  (void)n_inputs;
  (void)n_outputs;
  outputs[0] = tn_mul(tn_mul(inputs[0], inputs[0]), inputs[1]);
  tn_status status = tn_context_save(context, inputs[0]);
  return status == TN_OK ? tn_context_save(context, inputs[1]) : status;
}

static tn_status again_backward(tn_function_context *context,
                                tn_tensor *const *grads, int n_outputs,
                                tn_tensor **results, int n_inputs)
{
  tn_status status = TN_OK;
  (void)n_outputs;
  (void)n_inputs;
  tn_enable_grad {
    tn_tensor *x =
      tn_requires_grad_(tn_detach(tn_context_saved(context, 0)), true);
    tn_tensor *w = tn_context_saved(context, 1);
    status = tn_backward_with(tn_mul(tn_mul(x, x), w), grads[0]);
    results[0] = tn_grad(x);
  }
  return status;
}

static const tn_function again = { "again", again_forward, again_backward,
                                   NULL };

static void test_nested(void)
{
  tn_tensor *inputs[] = { leaf3(1, 2, 3), leaf3(4, 5, 6) }, *y;
  tn_function_apply(&again, NULL, inputs, 2, &y, 1);
  tap_ok(tn_backward(tn_sum(tn_mul_scalar(y, 2))) == TN_OK,
         "B4 a backward within a backward");
  tap_is_text(text_of(tn_grad(inputs[0])), "16 40 72", "B4 is right");
  tap_is_text(text_of(tn_grad(inputs[1])), "2 8 18",
              "B4 and may reach leaves of its own accord");
}

int main(void)
{
  device = test_device();
  tn_with_scope test_own_exp();
  tn_with_scope test_repeated();
  tn_with_scope test_spoiled();
  tn_with_scope test_outputs();
  tn_with_scope test_dirty();
  test_wrong();
  tn_with_scope test_nested();
  return tap_done();
}
