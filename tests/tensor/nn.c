/* Modules: parameters and their names, first values, forward, moving in
 * place, what is refused (rules T1, T4, T8). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device, host;

/* ---- help ---- */

static void refused(const void *result, tn_status status, const char *text)
{
  tap_ok(!result && tn_last_status() == status, "refused: %s", text);
  tap_has(tn_error_message(), text, "with its reason");
  tn_clear_error();
}

/* All elements as float, in a buffer that stays until the next call. */
static const float *values_of(tn_tensor *t)
{
  static float *values;
  size_t size = t ? (size_t)tn_numel(t) * sizeof *values : 0;
  free(values);
  values = calloc(size + 1, 1);
  if (!t || tn_read(t, values, size) != TN_OK)
    tap_note("cannot be read: %s", tn_error_message());
  return values;
}

static bool same_values(tn_tensor *a, tn_tensor *b)
{
  if (!a || !b || tn_numel(a) != tn_numel(b)) return false;
  size_t size = (size_t)tn_numel(a) * sizeof(float);
  float *kept = malloc(size + 1);
  memcpy(kept, values_of(a), size);
  bool are_same = memcmp(kept, values_of(b), size) == 0;
  free(kept);
  return are_same;
}

static tn_nn_module *make_pair(void)
{
  return tn_nn_sequential(TN_NN_MODULES(
      tn_nn_linear(5, 7, true, .device = device),
      tn_nn_function("relu", tn_relu), tn_nn_dropout(0.5),
      tn_nn_linear(7, 3, false, .device = device)));
}

/* ---- the modules that there are ---- */

static bool are_within(tn_tensor *t, float bound)
{
  const float *x = values_of(t);
  bool is_spread = false;
  for (int64_t i = 0; i < tn_numel(t); i++) {
    if (!(fabsf(x[i]) <= bound)) return false;
    is_spread |= fabsf(x[i]) > bound / 2;
  }
  return is_spread;
}

static void test_linear(void)
{
  tn_nn_module *m = tn_nn_linear(16, 9, true, .device = device);
  tn_tensor *weight = tn_nn_parameter(m, "weight");
  tn_tensor *bias = tn_nn_parameter(m, "bias");
  tap_is_int(tn_nn_parameter_count(m), 2, "a linear module has 2 parameters");
  tap_ok(tn_size(weight, 0) == 9 && tn_size(weight, 1) == 16 &&
           tn_size(bias, 0) == 9,
         "of its shapes");
  tap_ok(tn_requires_grad(weight) && tn_is_leaf(bias), "which learn");
  tap_ok(are_within(weight, 0.25f) && are_within(bias, 0.25f),
         "uniform within 1 / sqrt(in)");
  tn_with_scope {
    tn_tensor *x = tn_randn(TN_SHAPE(2, 4, 16), .device = device);
    tap_ok(same_values(tn_nn_forward(m, x), tn_linear(x, weight, bias)),
           "forward is tn_linear");
    tap_ok(!tn_nn_forward(m, NULL) && !tn_nn_forward(NULL, x),
           "NULL gives NULL");
  }
  tn_nn_module_release(m);
  m = tn_nn_linear(16, 9, false, .device = device);
  tap_is_int(tn_nn_parameter_count(m), 1, "without a bias it has one");
  tn_nn_module_release(m);
  refused(tn_nn_linear(-1, 3, true), TN_INVALID_ARGUMENT,
          "Linear: in_features -1");
}

/* The same seed gives the same module on every device. */
static void test_seed(void)
{
  const tn_device on[2] = { device, host };
  tn_tensor *weights[2];
  tn_nn_module *modules[2];
  for (int i = 0; i < 2; i++) {
    tn_manual_seed(77);
    modules[i] = tn_nn_linear(33, 5, true, .device = on[i]);
    weights[i] = tn_nn_parameter(modules[i], "weight");
  }
  tap_ok(same_values(weights[0], weights[1]),
         "T8 one seed, one module, here and on the host");
  for (int i = 0; i < 2; i++) tn_nn_module_release(modules[i]);
}

static void test_rows(void)
{
  tn_nn_module *m = tn_nn_embedding(10, 4, .device = device);
  const int64_t at[] = { 3, 9, 3 };
  tn_with_scope {
    tn_tensor *weight = tn_nn_parameter(m, "weight");
    tn_tensor *index = tn_from_data(at, TN_SHAPE(3), .device = device,
                                    .dtype = TN_I64);
    tap_ok(same_values(tn_nn_forward(m, index), tn_embedding(weight, index)),
           "an embedding gives rows of its weight");
  }
  tn_nn_module_release(m);
  m = tn_nn_layer_norm(TN_SHAPE(6), 1e-5, true, .device = device);
  tn_with_scope {
    tn_tensor *x = tn_randn(TN_SHAPE(3, 6), .device = device);
    tn_tensor *plain = tn_layer_norm(x, TN_SHAPE(6), NULL, NULL, 1e-5);
    tap_ok(same_values(tn_nn_forward(m, x), plain),
           "a layer norm begins with weight 1 and bias 0");
  }
  tn_nn_module_release(m);
  m = tn_nn_layer_norm(TN_SHAPE(6), 1e-5, false);
  tap_is_int(tn_nn_parameter_count(m), 0, "or has no parameters");
  tn_nn_module_release(m);
  refused(tn_nn_layer_norm(TN_SCALAR, 1e-5, true), TN_INVALID_ARGUMENT,
          "at least one dimension");
}

static void test_dropout(void)
{
  tn_nn_module *m = tn_nn_dropout(0.5);
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(64), .device = device);
    tap_ok(!same_values(tn_nn_forward(m, x), x), "dropout drops");
    tn_nn_eval(m);
    tap_ok(same_values(tn_nn_forward(m, x), x), "but not in evaluation");
  }
  tn_nn_module_release(m);
  refused(tn_nn_dropout(1.5), TN_INVALID_ARGUMENT, "probability 1.5");
}

/* ---- modules in modules ---- */

static void test_names(void)
{
  static const char *const names[] = { "0.weight", "0.bias", "3.weight" };
  tn_nn_module *m = make_pair();
  int n;
  tn_tensor *const *list = tn_nn_parameters(m, &n);
  tap_is_int(n, 3, "parameters of all modules in a sequence");
  for (int i = 0; i < 3; i++) {
    char text[32];
    tn_nn_parameter_name(m, i, text, sizeof text);
    tap_is_text(text, names[i], "named as PyTorch names them");
    tap_ok(list[i] == tn_nn_parameter(m, names[i]) &&
             list[i] == tn_nn_parameter_at(m, i),
           "%s is found by name and number", names[i]);
  }
  char text[4];
  tap_is_int(tn_nn_parameter_name(m, 0, text, sizeof text), 8,
             "the length of a name that does not fit");
  tap_is_text(text, "0.w", "which is cut");
  refused(tn_nn_parameter(m, "1.weight"), TN_INVALID_ARGUMENT,
          "Sequential has no parameter \"1.weight\"");
  refused(tn_nn_parameter(m, "9.weight"), TN_INVALID_ARGUMENT,
          "no parameter \"9.weight\"");
  refused(tn_nn_parameter_at(m, 3), TN_INVALID_ARGUMENT, "it has 3");
  refused(tn_nn_child(m, "4"), TN_INVALID_ARGUMENT, "no module \"4\"");
  tn_nn_eval(m);
  tap_ok(!tn_nn_is_training(tn_nn_child(m, "2")), "evaluation reaches all");
  tn_nn_train(m, true);
  tap_ok(tn_nn_is_training(tn_nn_child(m, "2")), "and training");
  tn_nn_module_release(m);
}

static int destroyed;

static void destroy(void *data)
{
  (void)data;
  destroyed++;
}

static tn_tensor *sum_forward(tn_nn_module *self, tn_tensor *const *inputs,
                              int n)
{
  tn_tensor *sum = tn_nn_parameter(self, "scale");
  for (int i = 0; i < n; i++) sum = tn_add(sum, inputs[i]);
  return sum;
}

static const tn_nn_class sum_class = { "Sum", sum_forward, destroy };

static void test_own(void)
{
  int data;
  tn_nn_module *m = tn_nn_module_new(&sum_class, &data);
  tn_nn_module *outer = tn_nn_module_new(&sum_class, NULL);
  tn_with_scope {
    tn_tensor *scale = tn_ones(TN_SHAPE(2), .device = device);
    tn_tensor *table = tn_arange(0, 2, 1, .device = device);
    tap_ok(tn_nn_register_parameter(m, "scale", scale) == TN_OK &&
             tn_requires_grad(scale),
           "a parameter of one's own");
    tap_ok(tn_nn_register_buffer(m, "table", table) == TN_OK &&
             tn_nn_buffer(m, "table") == table && tn_nn_buffer_count(m) == 1,
           "and a buffer");
    tap_ok(tn_nn_register_parameter(outer, "scale", scale) == TN_OK,
           "shared by two modules");
    tn_tensor *other = tn_ones(TN_SHAPE(2), .device = device);
    tap_ok(tn_nn_register_parameter(m, "scale", other) ==
             TN_INVALID_ARGUMENT && !tn_requires_grad(other),
           "a name is used once; what is refused stays as it was");
    tap_ok(tn_nn_register_parameter(m, "a.b", scale) == TN_INVALID_ARGUMENT,
           "names have no dots");
    tap_ok(tn_nn_register_parameter(m, "t", table) == TN_DTYPE_MISMATCH,
           "integers do not learn");
    tap_ok(tn_nn_register_parameter(m, "s", tn_add(scale, scale)) ==
             TN_INVALID_ARGUMENT, "nor what an operation made");
  }
  tap_ok(tn_nn_data(m) == &data, "data of one's own");
  tap_ok(tn_nn_add(outer, "inner", m) == m, "a module in a module");
  tap_is_int(tn_nn_parameter_count(outer), 1,
             "a shared parameter counts once");
  tap_ok(tn_nn_parameter(outer, "inner.scale") ==
           tn_nn_parameter(outer, "scale"), "under two names");
  tap_ok(!tn_nn_add(m, "self", tn_nn_module_retain(outer)),
         "no module is part of itself");
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(2), .device = device);
    tn_tensor *y = tn_nn_forward_with(m, (tn_tensor *[]){ x, x }, 2);
    tap_ok(y && tn_item(tn_sum(y)) == 6, "forward of several inputs");
    tap_ok(tn_backward(tn_sum(y)) == TN_OK &&
             tn_item(tn_sum(tn_grad(tn_nn_parameter(m, "scale")))) == 2,
           "and its gradient");
    tn_nn_zero_grad(outer);
    tap_ok(!tn_grad(tn_nn_parameter(m, "scale")), "which is forgotten");
  }
  tn_nn_module_release(outer);
  tap_is_int(destroyed, 2, "each is destroyed once");
}

/* One that cannot be made takes the others with it. */
static void test_nested_failure(void)
{
  int before = destroyed;
  refused(tn_nn_sequential(TN_NN_MODULES(
              tn_nn_module_new(&sum_class, NULL), tn_nn_linear(3, -4, true),
              tn_nn_module_new(&sum_class, NULL))),
          TN_INVALID_ARGUMENT, "out_features -4");
  tap_is_int(destroyed - before, 2, "and nothing is left");
}

/* ---- moving ---- */

static void train_a_step(tn_nn_module *m, tn_device on, tn_dtype dtype)
{
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(4, 5), .device = on, .dtype = dtype);
    tap_ok(tn_backward(tn_sum(tn_nn_forward(m, x))) == TN_OK,
           "a step of training in %s", tn_dtype_name(dtype));
  }
}

static void check_moved(tn_nn_module *m, tn_device to, tn_dtype dtype,
                        const char *what)
{
  tn_tensor *weight = tn_nn_parameter(m, "0.weight");
  tn_tensor *grad = tn_grad(weight);
  tap_ok(tn_device_equal(tn_device_of_tensor(weight), to) &&
           tn_dtype_of(weight) == dtype, "%s: parameters moved", what);
  tap_ok(grad && tn_device_equal(tn_device_of_tensor(grad), to) &&
           tn_dtype_of(grad) == dtype, "%s: and their gradients", what);
  train_a_step(m, to, dtype);
  tap_ok(tn_grad(weight) == grad, "%s: which go on being summed", what);
}

static void test_to(void)
{
  tn_nn_module *m = make_pair();
  tn_tensor *weight = tn_nn_parameter(m, "0.weight");
  train_a_step(m, device, TN_F32);
  tap_ok(tn_nn_to(m, .device = device) == m &&
           tn_nn_parameter(m, "0.weight") == weight,
         "T4 to where it is: nothing happens");
  float first = values_of(weight)[0];
  tap_ok(tn_nn_to(m, .device = host) == m &&
           tn_nn_parameter(m, "0.weight") == weight,
         "to the host, the same tensors");
  check_moved(m, host, TN_F32, "host");
  tap_ok(values_of(weight)[0] == first, "with their values");
  tap_ok(tn_nn_to(m, .dtype = TN_F64) == m, "to f64");
  check_moved(m, host, TN_F64, "f64");
  tap_ok(tn_nn_to(m, .device = device, .dtype = TN_F32) == m, "and back");
  check_moved(m, device, TN_F32, "back");
  refused(tn_nn_to(m, .dtype = TN_I64), TN_DTYPE_MISMATCH, "dtype i64");
  refused(tn_nn_to(m, .device = tn_device_of("cpu:400")), TN_NO_SUCH_DEVICE,
          "cpu:400");
  tn_nn_module_release(m);
}

/* What was saved for a gradient is not what it was. */
static void test_to_between(void)
{
  tn_nn_module *m = make_pair();
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(4, 5), .device = device,
                           .requires_grad = true);
    tn_tensor *y = tn_sum(tn_nn_forward(m, x));
    tap_ok(tn_nn_to(m, .dtype = TN_F64, .device = host) &&
             tn_backward(y) == TN_MODIFIED_IN_PLACE,
           "B4 a step back over a move is refused");
    tn_clear_error();
  }
  tn_nn_module_release(m);
}

static void test_requires_grad(void)
{
  tn_nn_module *m = make_pair();
  tap_ok(tn_nn_requires_grad_(m, false) == TN_OK &&
           !tn_requires_grad(tn_nn_parameter(m, "3.weight")),
         "parameters can be fixed");
  tn_nn_module_release(m);
}

/* All of it together: the loss falls. */
static void test_training(void)
{
  const int64_t classes[] = { 0, 1, 2, 0 };
  tn_nn_module *m = make_pair();
  tn_nn_eval(m); /* no dropout */
  tn_optim *optim = tn_optim_adam(TN_NN_PARAMETERS(m), 0.1);
  double first = 0, last = 0;
  tn_with_scope {
    tn_tensor *x = tn_randn(TN_SHAPE(4, 5), .device = device);
    tn_tensor *y = tn_from_data(classes, TN_SHAPE(4), .device = device,
                                .dtype = TN_I64);
    for (int step = 0; step < 12; step++) {
      tn_with_scope {
        tn_tensor *loss = tn_cross_entropy(tn_nn_forward(m, x), y);
        tn_optim_zero_grad(optim);
        if (tn_backward(loss) != TN_OK || tn_optim_step(optim) != TN_OK)
          tap_note("%s", tn_error_message());
        last = tn_item(loss);
        if (step == 0) first = last;
      }
    }
  }
  tap_ok(last < first / 2, "training lowers the loss: %g to %g", first, last);
  tn_optim_release(optim);
  tn_nn_module_release(m);
}

int main(void)
{
  device = test_device();
  host = tn_device_of("cpu:0");
  size_t before = tn_memory_allocated(device);
  test_linear();
  test_seed();
  test_rows();
  test_dropout();
  test_names();
  test_own();
  test_nested_failure();
  test_to();
  test_to_between();
  test_requires_grad();
  test_training();
  tap_is_int((long long)tn_memory_allocated(device), (long long)before,
             "nothing is left on the device");
  return tap_done();
}
