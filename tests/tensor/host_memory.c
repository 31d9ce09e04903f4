/* Every allocation that the tensor library makes on the host fails in turn,
 * once and from then on: an error, nothing lost, and the next try works (rules
 * M3, B4). Linked with the library's objects, so that its calls can be
 * counted. */
#include "config.h"

#include "tests/tensor/host_memory.h"

#include <string.h>

#include "tests/failing_malloc.h"
#include "tests/tap.h"
#include "tests/test_device.h"

tn_device device;

tn_tensor *ones(tn_shape shape, bool requires_grad)
{
  return tn_ones_with(shape, (tn_tensor_options){
                               .device = device,
                               .requires_grad = requires_grad });
}

/* ---- what is tried: each is true if all of it went well ---- */

static bool differentiate(void)
{
  tn_tensor *x = ones(TN_SHAPE(4, 6), true);
  tn_tensor *y = tn_softmax(tn_mul(tn_add_scalar(x, 1), tn_exp(x)), 1);
  return tn_backward(tn_sum(y)) == TN_OK && tn_grad(x);
}

static bool change_in_place(void)
{
  tn_tensor *x = ones(TN_SHAPE(3, 4), true), *base = tn_clone(x);
  tn_tensor *view = tn_narrow(base, 1, 1, 2);
  tn_tensor *added = tn_add_(tn_transpose(view, 0, 1),
                             ones(TN_SHAPE(2, 3), false));
  tn_tensor *parts[] = { base, view, ones(TN_SHAPE(3, 1), false) };
  tn_tensor *both[] = { tn_cat(parts, 3, 1), tn_cat(parts, 3, 1) };
  tn_tensor *spread = tn_std_dim(tn_stack(both, 2, 0), 2, 1, true);
  return added && tn_backward(tn_sum(tn_cumsum(spread, 0))) == TN_OK &&
         tn_grad(x);
}

static tn_status forward(tn_function_context *context,
                         tn_tensor *const *inputs, int n_inputs,
                         tn_tensor **outputs, int n_outputs)
{
  (void)n_inputs;
  if (tn_context_save(context, inputs[0]) != TN_OK) return tn_last_status();
  for (int i = 0; i < n_outputs; i++)
    if (!(outputs[i] = tn_exp(inputs[0]))) return tn_last_status();
  return TN_OK;
}

static tn_status backward(tn_function_context *context,
                          tn_tensor *const *grad_outputs, int n_outputs,
                          tn_tensor **grad_inputs, int n_inputs)
{
  (void)n_outputs, (void)n_inputs;
  grad_inputs[0] = tn_mul(tn_add(grad_outputs[0], grad_outputs[1]),
                          tn_exp(tn_context_saved(context, 0)));
  return grad_inputs[0] ? TN_OK : tn_last_status();
}

static bool apply_function(void)
{
  static const tn_function twin = { "twin", forward, backward, NULL };
  tn_tensor *x = ones(TN_SHAPE(3, 4), true), *outputs[2], *grad;
  if (!x || tn_function_apply(&twin, NULL, &x, 1, outputs, 2) != TN_OK)
    return false;
  tn_tensor *sum = tn_sum(tn_add(outputs[0], outputs[1]));
  return tn_grad_of(&sum, 1, &x, 1, &grad, .create_graph = true) == TN_OK &&
         tn_backward(tn_sum(tn_mul(grad, grad))) == TN_OK;
}

static bool train(void)
{
  tn_nn_module *model = tn_nn_sequential(TN_NN_MODULES(
    tn_nn_linear(6, 5, true, .device = device),
    tn_nn_function("relu", tn_relu),
    tn_nn_layer_norm(TN_SHAPE(5), 1e-5, true, .device = device),
    tn_nn_dropout(0.5), tn_nn_linear(5, 3, true, .device = device)));
  int n = 0;
  tn_tensor *const *parameters = tn_nn_parameters(model, &n);
  tn_optim *optim = parameters ? tn_optim_adamw(parameters, n, 1e-3) : NULL;
  tn_tensor *targets = tn_zeros(TN_SHAPE(4), .dtype = TN_I64,
                                .device = device);
  tn_tensor *scores = optim ? tn_nn_forward(model, ones(TN_SHAPE(4, 6),
                                                        false)) : NULL;
  bool is_good = optim &&
                 tn_backward(tn_cross_entropy(scores, targets)) == TN_OK &&
                 tn_optim_step(optim) == TN_OK;
  tn_optim_release(optim);
  tn_nn_module_release(model);
  return is_good;
}

static bool attend(void)
{
  tn_tensor *q = ones(TN_SHAPE(2, 3, 4), true);
  tn_tensor *mask = tn_tril(ones(TN_SHAPE(3, 3), false), 0);
  tn_tensor *y = tn_scaled_dot_product_attention(q, q, q, mask, true, 0);
  tn_tensor *rows = tn_arange(0, 3, 1, .device = device);
  tn_tensor *found = tn_embedding(tn_select(y, 0, 0), rows);
  tn_tensor *chosen = tn_amax_dim(tn_index_select(y, 1, rows), 1, false);
  return tn_backward(tn_add(tn_sum(found), tn_prod(chosen))) == TN_OK;
}

static tn_tensor *product(void *weight, tn_tensor **inputs, int n)
{
  return n == 1 ? tn_linear(inputs[0], weight, NULL) : NULL;
}

static bool make_callable(void)
{
  tn_tensor *weight = ones(TN_SHAPE(3, 6), true);
  tn_tensor *x = ones(TN_SHAPE(2, 6), true), *y = NULL;
  tn_callable eager = { product, weight, NULL }, graphed;
  if (!weight || !x ||
      tn_make_graphed_callables(&eager, 1, &x, 1, &graphed) != TN_OK)
    return false;
  y = tn_callable_call(&graphed, &x, 1);
  bool is_good = tn_backward(tn_sum(y)) == TN_OK && tn_grad(weight);
  tn_callable_release(&graphed);
  return is_good;
}

typedef struct scenario {
  const char *name;
  bool (*run)(void);
} scenario;

static const scenario scenarios[] = {
  { "a backward pass", differentiate },
  { "changes in place of views", change_in_place },
  { "a function of the program", apply_function },
  { "a step of training", train },
  { "attention and indexing", attend },
  { "a graphed callable", make_callable },
  { "factories and reading", make_and_read },
  { "views", make_views },
  { "elements, reductions, products", compute },
  { "records in place", record_in_place },
  { "by index", use_indices },
  { "random numbers", draw },
  { "modes, leaves and gradients kept", use_modes },
  { "a module of the program", use_own_module },
  { "modules and optimisers", use_optimisers },
  { "graphed callables of modules", use_graphed_modules },
};

/* ---- trying ---- */

static bool run(const scenario *of, long at, long from)
{
  bool is_good = false;
  host_calls = 0;
  host_fail_at = at;
  host_fail_from = from;
  tn_with_scope is_good = of->run();
  host_fail_at = host_fail_from = 0;
  return is_good;
}

/* NULL: all is right. */
static const char *fault_of(const scenario *of, long at, long from)
{
  long before = host_live;
  tn_clear_error();
  bool is_good = run(of, at, from);
  if (!is_good && tn_last_status() != TN_OUT_OF_MEMORY)
    return tn_last_status() == TN_OK ? "it fails without an error"
                                     : "it fails with another error";
  if (host_live != before) return "memory is lost";
  return run(of, 0, 0) ? NULL : "it does not work afterwards";
}

static void test_scenario(const scenario *of)
{
  int bad = 0;
  for (int i = 0; i < 3; i++) run(of, 0, 0);
  if (!tap_ok(run(of, 0, 0), "M3 %s works", of->name))
    tap_note("%s", tn_error_message());
  long total = host_calls;
  for (int once = 1; once >= 0; once--)
    for (long i = 1; i <= total; i++) {
      const char *fault = fault_of(of, once ? i : 0, once ? 0 : i);
      if (!fault) continue;
      bad++;
      tap_note("allocation %ld fails %s: %s: %s", i,
               once ? "once" : "and all after it", fault, tn_error_message());
    }
  tap_is_int(bad, 0, "M3 %s: each of %ld allocations fails in turn", of->name,
             total);
}

/* With a name: only that. */
int main(int argument_count, char **arguments)
{
  device = test_device();
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    if (argument_count < 2 || strcmp(arguments[1], scenarios[i].name) == 0)
      test_scenario(&scenarios[i]);
  tap_is_int((long long)tn_memory_allocated(device), 0,
             "M3 no device memory is left");
  return tap_done();
}
