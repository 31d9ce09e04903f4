/* What no caller should do: every wrong argument is an error of one line that
 * names the call, leaves everything as it was, and costs nothing; shapes whose
 * sizes do not multiply are shapes (rules T6, R20, N4, B4, C1). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "tests/tap.h"

#define HUGE ((int64_t)1 << 40)
#define LEAST INT64_MIN
#define MOST INT64_MAX

static tn_device device;

static tn_tensor *ones(int64_t rows, int64_t columns)
{
  return tn_ones(TN_SHAPE(rows, columns), .device = device);
}

static tn_tensor *indices(int64_t a, int64_t b)
{
  int64_t values[] = { a, b };
  return tn_from_data(values, TN_SHAPE(2), .dtype = TN_I64,
                      .device = device);
}

static tn_tensor *no_indices(tn_shape shape)
{
  return tn_zeros(shape, .dtype = TN_I64, .device = device);
}

/* The last call failed with that status, in one line with `part` in it. */
static void failed(bool has_failed, tn_status status, const char *part,
                   const char *text)
{
  const char *message = tn_error_message();
  bool is_right = has_failed && tn_last_status() == status &&
                  strstr(message, part) && !strchr(message, '\n');
  if (!tap_ok(is_right, "%s", text))
    tap_note("%s: %s", tn_status_name(tn_last_status()), message);
  tn_clear_error();
}

/* ---- lists of sizes and dimensions ---- */

static void test_lists(void)
{
  const tn_shape lists[] = { { NULL, 3 }, { (int64_t[]){ 1, 2 }, -1 },
                             { (int64_t[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 9 } };
  tn_tensor *t = ones(2, 3);
  for (int i = 0; i < 3; i++) {
    tn_shape list = lists[i];
    tap_ok(!tn_zeros(list, .device = device) && !tn_view(t, list) &&
               !tn_expand(t, list) && !tn_permute(t, list) &&
               !tn_as_strided(t, list, list, 0) &&
               !tn_as_strided(t, TN_SHAPE(2, 3), list, 0) &&
               !tn_sum_dims(t, list, false) && !tn_mean_dims(t, list, true) &&
               !tn_layer_norm(t, list, NULL, NULL, 1e-5) &&
               !tn_nn_layer_norm(list, 1e-5, true, .device = device),
           "a list of %d sizes is refused by all that take one",
           list.ndim);
  }
  tn_clear_error();
  failed(!tn_cat(NULL, 2, 0), TN_INVALID_ARGUMENT, "NULL",
         "a list of tensors that is NULL is said to be that");
  failed(!tn_sum_dims(t, TN_SHAPE(MOST), false), TN_INVALID_ARGUMENT,
         "dimension 9223372036854775807 of 2",
         "a dimension that is no int is named as it was given");
  tn_clear_error();
}

/* Of parts of the sizes of an empty tensor the product need not fit. */
static void test_products(void)
{
  tn_tensor *t = tn_empty(TN_SHAPE(HUGE, HUGE, 0), .device = device,
                          .requires_grad = true);
  tn_tensor *all = tn_sum(t), *flat = tn_flatten(t, 0, 1);
  tap_ok(t && tn_numel(t) == 0 && tn_item(all) == 0,
         "T6 R20 an empty tensor of huge sizes has the sum 0");
  tap_ok(flat && tn_ndim(flat) == 2 && tn_numel(flat) == 0,
         "T6 R20 it can be flattened");
  tap_ok(tn_backward(all) == TN_OK &&
             tn_backward(tn_sum(tn_cumsum(t, 0))) == TN_OK &&
             tn_backward(tn_sum(tn_transpose(t, 0, 2))) == TN_OK &&
             tn_backward(tn_sum(flat)) == TN_OK && tn_grad(t),
         "T6 R20 and differentiated");
  tn_tensor *q = tn_detach(tn_unsqueeze(t, 0));
  tap_ok(tn_scaled_dot_product_attention(q, q, q, NULL, false, 0) &&
             tn_layer_norm(t, tn_shape_of(t), NULL, NULL, 1e-5) &&
             tn_any(t) && tn_sum_dim(t, 1, true),
         "T6 R20 operations over it have nothing to do");
  failed(!tn_sum_dim(t, 2, false), TN_SIZE_OVERFLOW, "exceeds",
         "T6 R20 but a result must fit");
}

/* Strides of what has one element, or none, are never stepped by. */
static void test_strides(void)
{
  tn_tensor *t = tn_arange(0, 24, 1.0, .device = device);
  tn_tensor *row = tn_as_strided(t, TN_SHAPE(1, 2), TN_SHAPE(MOST, 1), 5);
  tap_ok(row && tn_item(tn_sum(row)) == 11, "T6 R20 the stride of one element");
  tap_ok(tn_numel(tn_slice(row, 0, 1, TN_END, 1)) == 0 &&
             tn_numel(tn_narrow(row, 0, 1, 0)) == 0,
         "T6 R20 an empty part of it");
  tn_tensor *none = tn_as_strided(t, TN_SHAPE(0, 5), TN_SHAPE(MOST, MOST), 7);
  tap_ok(tn_numel(tn_select(none, 1, 3)) == 0 &&
             tn_numel(tn_slice(none, 1, 2, TN_END, 2)) == 0,
         "T6 R20 parts of what has no element");
}

/* ---- numbers ---- */

static void test_numbers(void)
{
  const tn_dtype dtypes[] = { TN_I32, TN_I64, TN_U8 };
  for (int i = 0; i < 3; i++) {
    tn_tensor *t = tn_ones(TN_SHAPE(2), .dtype = dtypes[i],
                           .device = device);
    tap_ok(!tn_fill_(t, INFINITY) && !tn_fill_(t, NAN) &&
               !tn_fill_(t, 1e19) && !tn_full(TN_SHAPE(2), -1e19,
                                              .dtype = dtypes[i],
                                              .device = device) &&
               !tn_new_full(t, TN_SHAPE(2), NAN) &&
               !tn_masked_fill_(t, tn_eq(t, t), 9.5e18) &&
               tn_item_i64(tn_sum(t)) == 2,
           "N4 %s is filled with no number that it has not",
           tn_dtype_name(dtypes[i]));
  }
  tn_clear_error();
  tn_tensor *t = tn_full(TN_SHAPE(1), -1, .dtype = TN_U8, .device = device);
  tap_is_int(tn_item_i64(t), 255, "N4 negative ones wrap in u8");
  failed(!tn_fill_(t, 256), TN_INVALID_ARGUMENT, "256 does not fit",
         "N4 but 256 is none of its numbers");
  t = tn_zeros(TN_SHAPE(3), .device = device);
  failed(!tn_uniform_(t, -3e38, 3e38, NULL), TN_INVALID_ARGUMENT,
         "distance does not fit f32",
         "N4 no uniform numbers of infinite range");
  failed(!tn_uniform_(t, -INFINITY, INFINITY, NULL), TN_INVALID_ARGUMENT,
         "uniform_", "N4 nor between infinities");
  tap_ok(tn_item(tn_sum(t)) == 0, "N4 which leaves the tensor as it was");
  failed(!tn_dropout(t, 1.0000001, true), TN_INVALID_ARGUMENT, "1.0000001",
         "a probability just above 1 is named");
}

/* ---- indices ---- */

static void test_one_hot(void)
{
  failed(!tn_one_hot(indices(-5, -7), -1), TN_INVALID_ARGUMENT, "-5",
         "classes cannot be counted of negative indices");
  failed(!tn_one_hot(indices(MOST, 0), -1), TN_INVALID_ARGUMENT, "one_hot",
         "T6 R20 nor of the greatest one");
  failed(!tn_one_hot(indices(1, 0), MOST), TN_SIZE_OVERFLOW, "one_hot",
         "T6 R20 a number of classes that does not fit");
}

static void test_empty_indices(void)
{
  tn_tensor *v = tn_arange(0, 3, 1.0, .device = device), *values;
  tn_requires_grad_(v, true);
  values = tn_requires_grad_(tn_ones(TN_SHAPE(2), .device = device), true);
  tn_tensor *y = tn_scatter_add(v, 0, no_indices(TN_SHAPE(0, 5)), values);
  tap_ok(y && tn_item(tn_sum(y)) == 3,
         "T6 R20 an index without elements adds nothing, whatever its shape");
  tap_ok(tn_backward(tn_sum(y)) == TN_OK && tn_grad(values) &&
             tn_item(tn_sum(tn_grad(values))) == 0 &&
             tn_item(tn_sum(tn_grad(v))) == 3,
         "T6 R20 and has the gradient of that");
  y = tn_gather(v, 0, no_indices(TN_SHAPE(0, 5, 2)));
  tap_ok(y && tn_backward(tn_sum(y)) == TN_OK, "T6 R20 gather of none");
}

static void test_losses(void)
{
  tn_tensor *scores = ones(2, 3), *targets = indices(0, 1);
  failed(!tn_cross_entropy_with(scores, targets, (tn_loss_reduction)7, -100),
         TN_INVALID_ARGUMENT, "reduction 7", "an unknown reduction");
  failed(!tn_nll_loss_with(scores, targets, (tn_loss_reduction)-1, -100),
         TN_INVALID_ARGUMENT, "reduction -1", "of nll_loss too");
}

/* ---- errors ---- */

static void test_last_error(void)
{
  tn_tensor *a = ones(2, 3), *b = ones(4, 5);
  tn_item(tn_sum(tn_add(a, b)));
  failed(true, TN_SHAPE_MISMATCH, "add",
         "what ends an expression keeps the error of what failed in it");
  tap_ok(tn_print(tn_mul(a, b), stderr) == TN_SHAPE_MISMATCH &&
             tn_read(tn_mul(a, b), NULL, 0) == TN_SHAPE_MISMATCH &&
             tn_numel(tn_mul(a, b)) == -1 &&
             tn_last_status() == TN_SHAPE_MISMATCH,
         "print, read and facts too");
  tn_clear_error();
  failed(tn_read(NULL, NULL, 0) == TN_INVALID_ARGUMENT, TN_INVALID_ARGUMENT,
         "read: the tensor is NULL", "and NULL alone is said to be that");
}

static void test_devices(void)
{
  tn_device strange = device;
  strange.index = INT16_MAX;
  failed(!tn_zeros(TN_SHAPE(2), .device = strange) &&
             !tn_to(ones(1, 1), .device = strange),
         TN_INVALID_ARGUMENT, "is no device",
         "a device of an impossible number");
  strange = (tn_device){ 77, 3 };
  tap_ok(!tn_generator_new(strange) && !tn_generator_default(strange) &&
             !tn_zeros(TN_SHAPE(2), .device = strange),
         "a backend of an impossible number");
  tn_clear_error();
}

/* ---- functions ---- */

static int forgotten;

static void forget(void *data)
{
  (void)data;
  forgotten++;
}

static tn_status doubled(tn_function_context *context,
                         tn_tensor *const *inputs, int n_inputs,
                         tn_tensor **outputs, int n_outputs)
{
  (void)context;
  outputs[0] = n_inputs == 1 && n_outputs == 1
                   ? tn_mul_scalar(inputs[0], 2) : NULL;
  return outputs[0] ? TN_OK : tn_last_status();
}

static tn_status silent_failure(tn_function_context *context,
                                tn_tensor *const *from, int n_from,
                                tn_tensor **to, int n_to)
{
  (void)context, (void)from, (void)n_from, (void)to, (void)n_to;
  return TN_TIMEOUT;
}

static void test_functions(void)
{
  static const tn_function nameless = { NULL, doubled, doubled, forget };
  static const tn_function half = { "half", doubled, NULL, forget };
  static const tn_function silent = { "silent", silent_failure, doubled,
                                      forget };
  static const tn_function stuck = { "stuck", doubled, silent_failure,
                                     forget };
  tn_tensor *x = tn_requires_grad_(ones(2, 3), true), *y = NULL;
  forgotten = 0;
  tap_ok(tn_function_apply(&nameless, NULL, &x, 1, &y, 1) ==
                 TN_INVALID_ARGUMENT &&
             tn_function_apply(&half, NULL, &x, 1, &y, 1) ==
                 TN_INVALID_ARGUMENT &&
             tn_function_apply(&stuck, NULL, NULL, 1, &y, 1) ==
                 TN_INVALID_ARGUMENT &&
             tn_function_apply(&stuck, NULL, &x, 1, &y, -1) ==
                 TN_INVALID_ARGUMENT,
         "functions without a name, a part or an operand are refused");
  tap_is_int(forgotten, 4, "and their data forgotten");
  tn_clear_error();
  failed(tn_function_apply(&silent, NULL, &x, 1, &y, 1) == TN_TIMEOUT,
         TN_TIMEOUT, "silent: forward", "one that fails without a word");
  tap_ok(tn_function_apply(&stuck, NULL, &x, 1, &y, 1) == TN_OK,
         "and one whose backward does");
  failed(tn_backward(tn_sum(y)) == TN_TIMEOUT, TN_TIMEOUT, "stuck: backward",
         "is named too");
}

/* ---- modules and optimisers ---- */

static void test_moved_leaf(void)
{
  tn_nn_module *model = tn_nn_linear(3, 3, true, .device = device);
  tn_tensor *bias = tn_nn_parameter(model, "bias");
  tn_tensor *y = tn_sum(tn_add_scalar(bias, 1));
  if (!tn_nn_to(model, .dtype = TN_F64))
    tap_skip("the device has no f64");
  else
    failed(tn_backward(y) == TN_MODIFIED_IN_PLACE, TN_MODIFIED_IN_PLACE,
           "was moved", "B4 a leaf that was moved gets no gradient of what "
           "was computed of it before");
  tap_ok(!tn_grad(bias), "B4 and keeps none");
  tn_clear_error();
  tn_nn_module_release(model);
}

static void test_modules(void)
{
  tn_nn_module *model = tn_nn_dropout(0.5);
  failed(!tn_nn_sequential(NULL, 3), TN_INVALID_ARGUMENT, "NULL",
         "a list of modules that is NULL");
  failed(!tn_nn_forward_with(model, NULL, 2), TN_INVALID_ARGUMENT, "NULL",
         "a list of inputs that is NULL");
  failed(!tn_nn_forward_with(model, NULL, -2), TN_INVALID_ARGUMENT, "-2",
         "less than no inputs");
  tn_tensor *p = ones(1, 1);
  failed(!tn_optim_sgd(&p, 1, 1, .momentum = 0.9, .dampening = NAN),
         TN_INVALID_ARGUMENT, "dampening", "dampening by no number");
  tn_nn_module_release(model);
}

/* ---- callables ---- */

static tn_tensor *nothing(void *self, tn_tensor **inputs, int n)
{
  (void)self, (void)inputs, (void)n;
  return NULL;
}

static tn_tensor *same(void *self, tn_tensor **inputs, int n)
{
  (void)self;
  return n == 1 ? tn_retain(inputs[0]) : NULL;
}

static void test_callables(void)
{
  tn_tensor *x = tn_requires_grad_(ones(2, 3), true);
  const tn_callable empty = { nothing, NULL, NULL };
  const tn_callable whole = { same, NULL, NULL };
  tn_callable out = whole;
  failed(tn_make_graphed_callables(&empty, 1, &x, 1, &out) != TN_OK &&
             !out.call, TN_INVALID_ARGUMENT, "no tensor and no error",
         "C1 a callable that gives nothing makes none");
  out = whole;
  tap_ok(tn_make_graphed_callables(&whole, 1, &x, 0, &out) != TN_OK &&
             !out.call, "C1 refused calls leave no callable either");
  out = whole;
  failed(tn_make_graphed_callables(&out, 1, &x, 1, &out) != TN_OK &&
             out.call == same, TN_INVALID_ARGUMENT, "take the place",
         "C1 results in place of the callables");
  tn_clear_error();
  failed(!tn_callable_call(&whole, NULL, 1), TN_INVALID_ARGUMENT, "NULL",
         "C1 a list of inputs that is NULL");
  failed(!tn_callable_call(&whole, &x, -1), TN_INVALID_ARGUMENT, "-1",
         "C1 less than no inputs");
}

static tn_tensor *squared(void *self, tn_tensor **inputs, int n)
{
  (void)self;
  return n == 1 ? tn_mul(inputs[0], inputs[0]) : NULL;
}

/* What the graph saved is that of the last call. */
static void test_overwritten(void)
{
  tn_tensor *x = tn_requires_grad_(ones(2, 3), true);
  tn_tensor *other = tn_requires_grad_(tn_full(TN_SHAPE(2, 3), 5,
                                               .device = device), true);
  const tn_callable eager = { squared, NULL, NULL };
  tn_callable graphed = { 0 };
  tap_ok(tn_make_graphed_callables(&eager, 1, &x, 1, &graphed) == TN_OK,
         "C2 a callable");
  tn_tensor *first = tn_sum(tn_callable_call(&graphed, &x, 1));
  tn_tensor *second = tn_sum(tn_callable_call(&graphed, &other, 1));
  tap_ok(tn_backward(second) == TN_OK && tn_grad(other) &&
             tn_item(tn_sum(tn_grad(other))) == 60,
         "C2 the last call can be differentiated");
  failed(tn_backward(first) == TN_MODIFIED_IN_PLACE, TN_MODIFIED_IN_PLACE,
         "graphed callable", "C2 B4 the one before it cannot");
  tn_callable_release(&graphed);
}

static void test_moved_parameter(void)
{
  tn_nn_module *model = tn_nn_linear(3, 3, true, .device = device);
  tn_callable eager = tn_nn_callable(model), graphed = { 0 };
  tn_tensor *x = tn_requires_grad_(ones(2, 3), true);
  tap_ok(tn_make_graphed_callables(&eager, 1, &x, 1, &graphed) == TN_OK,
         "C1 a module as a graphed callable");
  tn_tensor *before = tn_sum(tn_callable_call(&graphed, &x, 1));
  if (tn_nn_to(model, .dtype = TN_F64) && tn_nn_to(model, .dtype = TN_F32)) {
    failed(!tn_callable_call(&graphed, &x, 1), TN_INVALID_ARGUMENT, "moved",
           "C1 no calls with parameters that were moved");
    failed(tn_backward(before) != TN_OK, TN_INVALID_ARGUMENT, "moved",
           "C1 nor backward passes");
  } else
    tap_skip("the device has no f64");
  tn_callable_release(&graphed);
  tn_callable_release(&eager);
  tn_nn_module_release(model);
}

/* ---- scopes ---- */

static void *leave_open(void *argument)
{
  (void)argument;
  for (int i = 0; i < 3; i++) {
    tn_scope_push();
    ones(100, 100);
  }
  return NULL;
}

static void test_scopes(void)
{
  size_t before = tn_memory_allocated(device);
  pthread_t thread;
  bool is_done = pthread_create(&thread, NULL, leave_open, NULL) == 0 &&
                 pthread_join(thread, NULL) == 0;
  tap_ok(is_done && tn_memory_allocated(device) == before,
         "M1 a thread that ends leaves no tensors in its open scopes");
  tn_scope_pop(NULL);
  tn_grad_mode_pop(NULL);
  tn_graph_pop(NULL);
  tap_ok(tn_is_grad_enabled(), "guards that are NULL are no guards");
}

int main(void)
{
  static void (*const tests[])(void) = {
    test_lists, test_products, test_strides, test_numbers, test_one_hot,
    test_empty_indices, test_losses, test_last_error, test_devices,
    test_functions, test_moved_leaf, test_modules, test_callables,
    test_overwritten, test_moved_parameter, test_scopes
  };
  device = test_device();
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    tn_with_scope tests[i]();
  tap_is_int((long long)tn_memory_allocated(device), 0,
             "M1 no device memory is left");
  return tap_done();
}
