/* Optimisers: the reference's bits over several steps, whatever the layout
 * and wherever the parameters move; what is refused (rules N1, B4). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/numbers_optim.h"
#include "tests/tap.h"

enum { PARAMETERS = 8, STEPS = 4, LONGEST = 300 };

static tn_device device, host;
static const int64_t sizes[PARAMETERS] = { 7, 64, LONGEST, 0, 3, 5, 1, 12 };

/* ---- help ---- */

static uint32_t state = 1;

static double next_number(void)
{
  state = state * 1664525 + 1013904223;
  return ldexp((double)(int32_t)state, -31);
}

static void refused(const tn_optim *optim, const char *text)
{
  tap_ok(!optim && tn_last_status() == TN_INVALID_ARGUMENT, "refused: %s",
         text);
  tap_has(tn_error_message(), text, "with its reason");
  tn_clear_error();
}

/* ---- a trial ---- */

typedef struct trial {
  const char *name;
  bool is_adam, is_decoupled;
  tn_optim_sgd_options sgd;
  tn_optim_adam_options adam;
} trial;

/* What the parameters are to be. */
typedef struct expected {
  double p[PARAMETERS][LONGEST], states[3][PARAMETERS][LONGEST];
  int steps[PARAMETERS];
} expected;

static double power(double base, int exponent)
{
  double result = 1;
  for (; exponent; exponent /= 2, base *= base)
    if (exponent % 2) result *= base;
  return result;
}

static ref_sgd sgd_numbers(const trial *of, double lr, int step)
{
  const tn_optim_sgd_options *o = &of->sgd;
  return (ref_sgd){ -lr, o->weight_decay, o->maximize ? -1 : 1, o->momentum,
                    1 - o->dampening, o->nesterov, step == 1 };
}

static ref_adam adam_numbers(const trial *of, double lr, int step)
{
  const tn_optim_adam_options *o = &of->adam;
  double decay = of->is_decoupled ? 0.01 : o->weight_decay;
  double beta1 = o->beta1 ? o->beta1 : 0.9, beta2 = 0.999;
  return (ref_adam){ 1 - beta1, beta2, 1 - beta2,
                     -(lr / (1 - power(beta1, step))),
                     sqrt(1 - power(beta2, step)), 1e-8,
                     of->is_decoupled ? 0 : decay,
                     of->is_decoupled ? 1 - lr * decay : 1,
                     o->maximize ? -1 : 1, o->amsgrad };
}

static void expect_f32(const trial *of, double lr, int step, double *p,
                       double g, double *const *states)
{
  float x = (float)*p, kept[3];
  ref_sgd sgd = sgd_numbers(of, lr, step);
  ref_adam adam = adam_numbers(of, lr, step);
  for (int k = 0; k < 3; k++) kept[k] = (float)*states[k];
  if (of->is_adam)
    ref_adam_f32(&adam, &x, (float)g, &kept[0], &kept[1], &kept[2]);
  else ref_sgd_f32(&sgd, &x, (float)g, &kept[0]);
  *p = (double)x;
  for (int k = 0; k < 3; k++) *states[k] = (double)kept[k];
}

static void expect_f64(const trial *of, double lr, int step, double *p,
                       double g, double *const *states)
{
  ref_sgd sgd = sgd_numbers(of, lr, step);
  ref_adam adam = adam_numbers(of, lr, step);
  if (of->is_adam)
    ref_adam_f64(&adam, p, g, states[0], states[1], states[2]);
  else ref_sgd_f64(&sgd, p, g, states[0]);
}

static tn_tensor *tensor_of(const double *values, int64_t n, tn_dtype dtype)
{
  float narrow[LONGEST + 1];
  for (int64_t i = 0; i < n; i++) narrow[i] = (float)values[i];
  const void *data = dtype == TN_F64 ? (const void *)values : narrow;
  return tn_from_data(data, TN_SHAPE(n), .device = device, .dtype = dtype);
}

/* Not all parameters have a gradient in every step. */
static bool set_gradients(const trial *of, tn_tensor *const *parameters,
                          double lr, expected *want)
{
  for (int i = 0; i < PARAMETERS; i++) {
    double g[LONGEST + 1];
    tn_dtype dtype = tn_dtype_of(parameters[i]);
    bool has = i != 4 || want->steps[0] % 2 == 1;
    for (int64_t k = 0; k < sizes[i]; k++) g[k] = (double)(float)next_number();
    tn_tensor *grad =
        tn_to(tensor_of(g, sizes[i], dtype),
              .device = tn_device_of_tensor(parameters[i]));
    grad = tn_reshape(grad, tn_shape_of(parameters[i]));
    if (tn_set_grad(parameters[i], has ? grad : NULL) != TN_OK) return false;
    if (!has) continue;
    want->steps[i]++;
    for (int64_t k = 0; k < sizes[i]; k++) {
      double *states[] = { &want->states[0][i][k], &want->states[1][i][k],
                           &want->states[2][i][k] };
      (dtype == TN_F64 ? expect_f64 : expect_f32)(
          of, lr, want->steps[i], &want->p[i][k], g[k], states);
    }
  }
  return true;
}

static bool is_as(tn_tensor *t, const double *want, int64_t n)
{
  double wide[LONGEST + 1];
  float narrow[LONGEST + 1];
  bool is_wide = tn_dtype_of(t) == TN_F64;
  if (tn_read(t, is_wide ? (void *)wide : narrow,
              (size_t)n * tn_dtype_size(tn_dtype_of(t))) != TN_OK)
    return false;
  for (int64_t k = 0; k < n; k++)
    if ((is_wide ? wide[k] : (double)narrow[k]) != want[k]) {
      tap_note("element %d is %.17g, not %.17g", (int)k,
               is_wide ? wide[k] : (double)narrow[k], want[k]);
      return false;
    }
  return true;
}

static tn_optim *make(const trial *of, tn_tensor *const *parameters,
                      double lr)
{
  if (!of->is_adam)
    return tn_optim_sgd_with(parameters, PARAMETERS, lr, of->sgd);
  return of->is_decoupled
           ? tn_optim_adamw_with(parameters, PARAMETERS, lr, of->adam)
           : tn_optim_adam_with(parameters, PARAMETERS, lr, of->adam);
}

/* The last one lies in memory in columns. */
static void make_parameters(tn_tensor **parameters, tn_dtype dtype,
                            expected *want)
{
  memset(want, 0, sizeof *want);
  for (int i = 0; i < PARAMETERS; i++) {
    for (int64_t k = 0; k < sizes[i]; k++)
      want->p[i][k] = (double)(float)next_number();
    parameters[i] = tensor_of(want->p[i], sizes[i], dtype);
  }
  double turned[12];
  for (int k = 0; k < 12; k++) turned[k] = want->p[7][k % 4 * 3 + k / 4];
  tn_tensor *t = tn_reshape(tensor_of(turned, 12, dtype), TN_SHAPE(3, 4));
  parameters[7] = tn_detach(tn_transpose(t, 0, 1));
  for (int i = 0; i < PARAMETERS; i++) tn_requires_grad_(parameters[i], true);
}

/* moves: between the steps the parameters go to the host and come back. */
static void run(const trial *of, tn_dtype dtype, bool moves)
{
  static expected want;
  double lr = 0.05;
  bool are_right = true;
  tn_with_scope {
    tn_tensor *parameters[PARAMETERS];
    make_parameters(parameters, dtype, &want);
    tn_optim *optim = make(of, parameters, lr);
    for (int step = 0; optim && step < STEPS; step++) {
      if (moves) {
        tn_nn_module *m = tn_nn_function("carrier", tn_relu);
        for (int i = 0; i < PARAMETERS; i++) {
          char name[8];
          snprintf(name, sizeof name, "p%d", i);
          tn_nn_register_parameter(m, name, parameters[i]);
        }
        tn_nn_to(m, .device = step % 2 ? device : host);
        tn_nn_module_release(m);
      }
      tn_optim_set_lr(optim, lr /= 2);
      are_right = are_right && set_gradients(of, parameters, lr, &want) &&
                  tn_optim_step(optim) == TN_OK;
      for (int i = 0; i < PARAMETERS; i++)
        are_right = are_right && is_as(parameters[i], want.p[i], sizes[i]);
    }
    tap_ok(optim && are_right, "N1 %s, %s%s: the reference's bits", of->name,
           tn_dtype_name(dtype), moves ? ", moving about" : "");
    if (!are_right) tap_note("%s", tn_error_message());
    tn_optim_release(optim);
  }
}

static const trial trials[] = {
  { .name = "sgd" },
  { .name = "sgd, decay, climbing",
    .sgd = { .weight_decay = 0.1, .maximize = true } },
  { .name = "sgd, momentum",
    .sgd = { .momentum = 0.9, .dampening = 0.25, .weight_decay = 0.1 } },
  { .name = "sgd, nesterov", .sgd = { .momentum = 0.8, .nesterov = true } },
  { .name = "adam", .is_adam = true },
  { .name = "adam, decay, climbing", .is_adam = true,
    .adam = { .beta1 = 0.25, .weight_decay = 0.1, .maximize = true } },
  { .name = "adam, amsgrad", .is_adam = true, .adam = { .amsgrad = true } },
  { .name = "adamw", .is_adam = true, .is_decoupled = true },
  { .name = "adamw, amsgrad", .is_adam = true, .is_decoupled = true,
    .adam = { .amsgrad = true } },
};

static void test_trials(void)
{
  tn_device_info info;
  tn_device_get_info(device, &info);
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    run(&trials[i], TN_F32, false);
    if (info.f64) run(&trials[i], TN_F64, false);
  }
  run(&trials[2], TN_F32, true);
  run(&trials[6], TN_F32, true);
}

/* ---- the rest ---- */

static void test_refusals(void)
{
  tn_with_scope {
    tn_tensor *t = tn_ones(TN_SHAPE(2), .device = device,
                           .requires_grad = true);
    tn_tensor *whole = tn_zeros(TN_SHAPE(2), .device = device,
                                .dtype = TN_I64);
    tn_tensor *twice[] = { t, t }, *made[] = { tn_add(t, t) };
    refused(tn_optim_sgd(&t, 0, 0.1), "0 parameters");
    refused(tn_optim_sgd(twice, 2, 0.1), "parameters 0 and 1 are the same");
    refused(tn_optim_sgd(made, 1, 0.1), "made by an operation (add)");
    refused(tn_optim_sgd(&t, 1, -1), "learning rate -1");
    refused(tn_optim_sgd(&t, 1, NAN), "learning rate");
    refused(tn_optim_sgd(&t, 1, 0.1, .nesterov = true), "nesterov");
    refused(tn_optim_adam(&t, 1, 0.1, .beta2 = 1), "beta2 1");
    refused(tn_optim_adamw(&t, 1, 0.1, .eps = -1), "eps -1");
    tap_ok(!tn_optim_adam(&whole, 1, 0.1) &&
             tn_last_status() == TN_DTYPE_MISMATCH, "integers do not learn");
    tn_clear_error();
  }
}

static void test_use(void)
{
  tn_with_scope {
    tn_tensor *t = tn_ones(TN_SHAPE(2), .device = device,
                           .requires_grad = true);
    tn_tensor *x = tn_ones(TN_SHAPE(2), .device = device,
                           .requires_grad = true);
    tn_optim *optim = tn_optim_sgd(&t, 1, 0.5);
    tap_ok(tn_optim_step(optim) == TN_OK && tn_item(tn_sum(t)) == 2,
           "without a gradient nothing changes");
    tn_tensor *y = tn_sum(tn_mul(x, t));
    tap_ok(tn_backward(tn_sum(tn_mul(t, t))) == TN_OK &&
             tn_optim_step(optim) == TN_OK && tn_item(tn_sum(t)) == 0,
           "a step of tn_backward's gradient");
    tap_ok(tn_backward(y) == TN_MODIFIED_IN_PLACE,
           "B4 a step counts as a change in place");
    tn_clear_error();
    tn_optim_zero_grad(optim);
    tap_ok(!tn_grad(t), "gradients are forgotten");
    tap_ok(tn_optim_lr(optim) == 0.5 &&
             tn_optim_set_lr(optim, -2) == TN_INVALID_ARGUMENT &&
             tn_optim_lr(optim) == 0.5, "a wrong rate is refused");
    tn_clear_error();
    tn_optim_release(optim);
    optim = tn_optim_adamw(&t, 1, 0.5, .weight_decay = TN_OPTIM_ZERO);
    tn_set_grad(t, tn_zeros_like(t));
    tap_ok(tn_optim_step(optim) == TN_OK && tn_item(tn_sum(t)) == 0,
           "TN_OPTIM_ZERO is no decay");
    tn_optim_release(optim);
  }
}

int main(void)
{
  device = test_device();
  host = tn_device_of("cpu:0");
  size_t before = tn_memory_allocated(device);
  test_trials();
  test_refusals();
  test_use();
  tap_is_int((long long)tn_memory_allocated(device), (long long)before,
             "nothing is left on the device");
  return tap_done();
}
