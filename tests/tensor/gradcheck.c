/* Every operation's gradient beside central differences, in f64; and the
 * gradient of the gradient, or its refusal (rules B3, B5). */
#include "config.h"

#include "tests/tensor/gradcheck.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { ROOM = 256 };

static const double step = 1e-5, tolerance = 2e-7;
static tn_device device;
static bool is_brief; /* other devices than cpu: some elements, for time */

/* One input in host memory; the gradient is of what is checked. */
typedef struct host_input {
  gradcheck_input shape;
  int64_t count;
  double values[ROOM], direction[ROOM];
} host_input;

typedef struct trial {
  const gradcheck_case *of;
  bool is_transposed;
  host_input inputs[GRADCHECK_INPUTS];
  tn_tensor *x[GRADCHECK_INPUTS]; /* of the scope */
  int64_t n_outputs;
  double weights[ROOM];
} trial;

/* ---- numbers ---- */

static uint64_t state;

static double uniform(void)
{
  state = state * 6364136223846793005 + 1442695040888963407;
  return ldexp((double)(state >> 33), -31);
}

/* A quarter away from kinks; the small part makes them all different. */
static double number(gradcheck_domain domain, int number_of_it)
{
  double value = floor(8 * uniform()) * 0.5 - 2 + 0.2 +
                 0.002 * (number_of_it % 40);
  return domain == GRADCHECK_POSITIVE ? 0.5 * fabs(value) + 0.3 : value;
}

static int64_t count_of(const gradcheck_input *shape)
{
  int64_t count = 1;
  for (int i = 0; i < shape->ndim; i++) count *= shape->sizes[i];
  return count;
}

static void choose(trial *of)
{
  int number_of_it = 0;
  for (int k = 0; k < of->of->n; k++) {
    host_input *input = &of->inputs[k];
    input->shape = of->of->inputs[k];
    input->count = count_of(&input->shape);
    for (int64_t i = 0; i < input->count; i++) {
      input->values[i] = number(of->of->domain, number_of_it++);
      input->direction[i] = 2 * uniform() - 1;
    }
  }
  for (int i = 0; i < ROOM; i++) of->weights[i] = 2 * uniform() - 1;
}

/* ---- tensors ---- */

tn_tensor *gradcheck_indices(tn_shape shape, const int64_t *values)
{
  return tn_from_data(values, shape, .device = device, .dtype = TN_I64);
}

tn_tensor *gradcheck_mask(tn_shape shape)
{
  uint8_t values[ROOM];
  for (int i = 0; i < ROOM; i++) values[i] = i % 3 != 1;
  return tn_from_data(values, shape, .device = device, .dtype = TN_BOOL);
}

static tn_tensor *tensor_of(const gradcheck_input *shape,
                            const double *values)
{
  return tn_from_data(values, ((tn_shape){ shape->sizes, shape->ndim }),
                      .device = device, .dtype = TN_F64);
}

/* A leaf with the input's values; its memory is that of the transposed one if
 * that is asked for. */
static tn_tensor *leaf_of(const host_input *input, bool is_transposed)
{
  tn_tensor *t = tensor_of(&input->shape, input->values);
  if (is_transposed && input->shape.ndim > 1) {
    int last = input->shape.ndim - 1;
    t = tn_detach(tn_transpose(tn_contiguous(tn_transpose(t, 0, last)), 0,
                               last));
  }
  return tn_requires_grad_(t, true);
}

static tn_tensor *apply(trial *of)
{
  for (int k = 0; k < of->of->n; k++) {
    of->x[k] = leaf_of(&of->inputs[k], of->is_transposed);
    if (!of->x[k]) return NULL;
  }
  return of->of->f(of->x);
}

static tn_tensor *weights_for(const trial *of, const tn_tensor *y)
{
  if (tn_numel(y) > ROOM) return NULL;
  return tn_from_data(of->weights, tn_shape_of(y), .device = device,
                      .dtype = TN_F64);
}

static double dot(tn_tensor *t, const double *weights)
{
  double values[ROOM], sum = 0;
  int64_t n = tn_numel(t);
  if (!t || n > ROOM ||
      tn_read(t, values, (size_t)n * sizeof *values) != TN_OK)
    return NAN;
  for (int64_t i = 0; i < n; i++) sum += values[i] * weights[i];
  return sum;
}

/* ---- one derivative ---- */

/* The number that is differentiated: y times the weights, or the gradients of
 * that times the directions. */
typedef double (*quantity)(trial *of);

static double value_of(trial *of)
{
  double value = NAN;
  tn_with_scope value = dot(apply(of), of->weights);
  return value;
}

/* The gradients of y times the weights; false on failure. */
static bool gradients(trial *of, bool create_graph, tn_tensor **grads)
{
  tn_tensor *y = apply(of);
  tn_tensor *weights = y ? weights_for(of, y) : NULL;
  if (!weights) return false;
  return tn_grad_of(&y, 1, of->x, of->of->n, grads,
                    .grad_outputs = (tn_tensor *const *)&weights,
                    .create_graph = create_graph,
                    .allow_unused = true) == TN_OK;
}

static double slope_of(trial *of)
{
  double sum = NAN;
  tn_with_scope {
    tn_tensor *grads[GRADCHECK_INPUTS];
    if (gradients(of, false, grads)) {
      sum = 0;
      for (int k = 0; k < of->of->n; k++)
        if (grads[k]) sum += dot(grads[k], of->inputs[k].direction);
    }
  }
  return sum;
}

static double difference(trial *of, quantity f, double *value)
{
  double before = *value;
  *value = before + step;
  double above = f(of);
  *value = before - step;
  double below = f(of);
  *value = before;
  return (above - below) / (2 * step);
}

/* Whether grads[], each NULL for 0, are what the differences say. */
static bool matches(trial *of, quantity f, tn_tensor **grads)
{
  for (int k = 0; k < of->of->n; k++) {
    host_input *input = &of->inputs[k];
    double got[ROOM] = { 0 };
    if (grads[k] && (tn_dtype_of(grads[k]) != TN_F64 ||
                     tn_numel(grads[k]) != input->count ||
                     tn_ndim(grads[k]) != input->shape.ndim)) {
      tap_note("input %d: the gradient's form is wrong", k);
      return false;
    }
    if (grads[k]) tn_read(grads[k], got, (size_t)input->count * sizeof *got);
    int64_t stride = is_brief && input->count > 1 ? input->count - 1 : 1;
    for (int64_t i = 0; i < input->count; i += stride) {
      double wanted = difference(of, f, &input->values[i]);
      if (fabs(got[i] - wanted) <= tolerance * (1 + fabs(wanted))) continue;
      tap_note("input %d, element %" PRId64 ": %.12g, %.12g is right", k, i,
               got[i], wanted);
      return false;
    }
  }
  return true;
}

/* ---- a case ---- */

static bool check_once(trial *of)
{
  bool is_right = false;
  tn_clear_error();
  tn_with_scope {
    tn_tensor *grads[GRADCHECK_INPUTS] = { NULL };
    tn_tensor *y = apply(of);
    if (y && tn_backward_with(y, weights_for(of, y)) == TN_OK) {
      for (int k = 0; k < of->of->n; k++) grads[k] = tn_grad(of->x[k]);
      is_right = matches(of, value_of, grads);
    }
  }
  if (!is_right) tap_note("%s", tn_error_message());
  return is_right;
}

/* The gradients' gradients. Without influence on them there is none. */
static bool check_second(trial *of, tn_tensor **grads)
{
  tn_tensor *outputs[GRADCHECK_INPUTS], *directions[GRADCHECK_INPUTS];
  tn_tensor *second[GRADCHECK_INPUTS] = { NULL };
  int n = 0;
  for (int k = 0; k < of->of->n; k++) {
    if (!grads[k] || !tn_requires_grad(grads[k])) continue;
    outputs[n] = grads[k];
    directions[n++] = tensor_of(&of->inputs[k].shape,
                                of->inputs[k].direction);
  }
  if (n > 0 && tn_grad_of(outputs, n, of->x, of->of->n, second,
                          .grad_outputs = directions,
                          .allow_unused = true) != TN_OK)
    return false;
  return matches(of, slope_of, second);
}

static bool check_twice(trial *of)
{
  bool is_right = false;
  tn_clear_error();
  tn_with_scope {
    tn_tensor *grads[GRADCHECK_INPUTS];
    bool is_made = gradients(of, true, grads);
    if (of->of->twice == GRADCHECK_REFUSED)
      is_right = !is_made && tn_last_status() == TN_UNSUPPORTED;
    else
      is_right = is_made && check_second(of, grads);
  }
  if (!is_right) tap_note("%s", tn_error_message());
  return is_right;
}

/* A line for plain inputs, and one for transposed ones. */
static void run(const gradcheck_case *cases, int count, const char *only)
{
  static trial of;
  for (int i = 0; i < 2 * count; i++) {
    of.of = &cases[i / 2];
    if (only && strcmp(only, of.of->name) != 0) continue;
    of.is_transposed = i % 2;
    choose(&of);
    bool is_twice = !is_brief || !of.is_transposed;
    bool is_right = check_once(&of);
    bool is_right_twice = !is_twice || check_twice(&of);
    tap_ok(is_right && is_right_twice, "B3, B5 %s%s%s", of.of->name,
           of.is_transposed ? ", transposed" : "",
           !is_twice ? "" : of.of->twice == GRADCHECK_REFUSED
             ? "; refused twice" : "; and twice");
  }
}

/* gradcheck [NAME]: that operation alone. */
int main(int argc, char **argv)
{
  const char *only = argc > 1 ? argv[1] : NULL;
  tn_device_info info;
  device = test_device();
  if (tn_device_get_info(device, &info) != TN_OK || !info.f64) {
    tap_skip("B3 the device has no f64");
    return tap_done();
  }
  is_brief = strcmp(info.backend, "cpu") != 0;
  state = 20261130;
  tap_note("seed %" PRIu64, state);
  run(gradcheck_elementwise, gradcheck_elementwise_count, only);
  run(gradcheck_reductions, gradcheck_reductions_count, only);
  run(gradcheck_products, gradcheck_products_count, only);
  run(gradcheck_views, gradcheck_views_count, only);
  return tap_done();
}
