/* Rules N1 and N2: operations on tensors have the bits that cpu's baseline
 * kernels give in another process. A few of each family of kernels. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/values.h"

/* What operations are given: x and y of 6 x 67 numbers of all kinds, or their
 * like as integers. */
typedef tn_tensor *(*operation)(tn_tensor *x, tn_tensor *y);

typedef struct named_operation {
  const char *name;
  operation make;
} named_operation;

enum { ROWS = 6, COLUMNS = 67, COUNT = ROWS * COLUMNS };

#define UNARY(name) \
  static tn_tensor *name##_of(tn_tensor *x, tn_tensor *y) \
  { (void)y; return tn_##name(x); }
#define UNARY_DIM(name, ...) \
  static tn_tensor *name##_of(tn_tensor *x, tn_tensor *y) \
  { (void)y; return tn_##name(x, __VA_ARGS__); }
#define OF(name, expression) \
  static tn_tensor *name(tn_tensor *x, tn_tensor *y) \
  { (void)y; return expression; }

UNARY(exp) UNARY(expm1) UNARY(log) UNARY(log1p) UNARY(sqrt) UNARY(rsqrt)
UNARY(reciprocal) UNARY(sin) UNARY(cos) UNARY(tan) UNARY(tanh) UNARY(sigmoid)
UNARY(erf) UNARY(relu) UNARY(gelu) UNARY(gelu_tanh) UNARY(silu) UNARY(neg)
UNARY(abs) UNARY(sign) UNARY(floor) UNARY(ceil) UNARY(round)

#define LIST(name) { #name, name##_of }

static const named_operation functions[] = {
  LIST(exp), LIST(expm1), LIST(log), LIST(log1p), LIST(sqrt), LIST(rsqrt),
  LIST(reciprocal), LIST(sin), LIST(cos), LIST(tan), LIST(tanh),
  LIST(sigmoid), LIST(erf), LIST(relu), LIST(gelu), LIST(gelu_tanh),
  LIST(silu), { "pow", tn_pow }, { NULL, NULL },
};

OF(added, tn_add_alpha(x, y, 0.3)) OF(clamped, tn_clamp(x, -0.5, 2))
OF(chosen, tn_where(tn_lt(x, y), x, y))
OF(across, tn_add(tn_transpose(x, 0, 1), tn_transpose(y, 0, 1)))
OF(spread, tn_mul(tn_slice(x, 0, 0, 1, 1), y))

static const named_operation elementwise[] = {
  { "add", tn_add }, { "sub", tn_sub }, { "mul", tn_mul }, { "div", tn_div },
  { "floor_divide", tn_floor_divide }, { "remainder", tn_remainder },
  { "maximum", tn_maximum }, { "minimum", tn_minimum }, { "eq", tn_eq },
  { "lt", tn_lt }, { "ge", tn_ge }, LIST(neg), LIST(abs), LIST(sign),
  LIST(floor), LIST(ceil), LIST(round), { "add_alpha", added },
  { "clamp", clamped }, { "where", chosen }, { "transposed", across },
  { "broadcast", spread }, { NULL, NULL },
};

UNARY(sum) UNARY(mean) UNARY(prod) UNARY(max) UNARY(argmax) UNARY(argmin)
OF(row_sums, tn_sum_dim(x, 1, false)) OF(column_sums, tn_sum_dim(x, 0, true))
OF(row_minima, tn_min_dim(x, 1, false)) OF(norms, tn_norm_dim(x, 1, false))
OF(variance, tn_var_dim(x, 0, 1, false)) OF(running, tn_cumsum(x, 1))
OF(all_of, tn_all(tn_ge(x, y)))
OF(long_sum, tn_sum(tn_expand(tn_select(x, 0, 2), TN_SHAPE(100, COLUMNS))))

static const named_operation reductions[] = {
  LIST(sum), LIST(mean), LIST(prod), LIST(max), LIST(argmax), LIST(argmin),
  { "sum of rows", row_sums }, { "sum of columns", column_sums },
  { "min", row_minima }, { "norm", norms }, { "var", variance },
  { "cumsum", running }, { "all", all_of }, { "sum of 6700", long_sum },
  { NULL, NULL },
};

OF(product, tn_matmul(x, tn_transpose(y, 0, 1)))
OF(outer, tn_matmul(tn_transpose(x, 0, 1), y))
OF(vector, tn_matmul(x, tn_transpose(tn_slice(y, 0, 1, 2, 1), 0, 1)))
OF(row, tn_matmul(tn_slice(x, 0, 0, 1, 1), tn_transpose(y, 0, 1)))
OF(batch, tn_bmm(tn_view(x, TN_SHAPE(2, 3, COLUMNS)),
                 tn_transpose(tn_view(y, TN_SHAPE(2, 3, COLUMNS)), 1, 2)))
OF(linear, tn_linear(x, y, tn_select(tn_transpose(x, 0, 1), 0, 3)))

static const named_operation products[] = {
  { "matmul", product }, { "matmul, transposed", outer },
  { "matrix-vector", vector }, { "vector-matrix", row }, { "bmm", batch },
  { "linear", linear }, { NULL, NULL },
};

UNARY_DIM(softmax, 1) UNARY_DIM(log_softmax, 1)
OF(down, tn_softmax(x, 0))
OF(normed, tn_layer_norm(x, TN_SHAPE(COLUMNS), tn_select(y, 0, 1),
                         tn_select(y, 0, 2), 1e-5))
OF(attended, tn_scaled_dot_product_attention(
  tn_view(x, TN_SHAPE(1, COUNT / 2, 2)), tn_view(y, TN_SHAPE(1, COUNT / 2, 2)),
  tn_view(x, TN_SHAPE(1, COUNT / 2, 2)), NULL, true, 0))
OF(loss, tn_mse_loss(x, y))

static const named_operation rows[] = {
  LIST(softmax), LIST(log_softmax), { "softmax of columns", down },
  { "layer_norm", normed }, { "attention", attended }, { "mse_loss", loss },
  { NULL, NULL },
};

/* 0 ... ROWS - 1, each several times. */
static tn_tensor *indices(tn_tensor *like, int64_t count)
{
  tn_tensor *t = tn_arange(0, count * 5, 5,
                           .device = tn_device_of_tensor(like));
  return tn_remainder_scalar(t, ROWS);
}

OF(embedded, tn_embedding(x, indices(x, 9)))
OF(gathered, tn_gather(x, 0, tn_expand(tn_unsqueeze(indices(x, 9), 1),
                                       TN_SHAPE(9, COLUMNS))))
OF(scattered, tn_scatter_add(x, 0, tn_expand(
  tn_unsqueeze(indices(x, ROWS), 1), TN_SHAPE(ROWS, COLUMNS)), y))
OF(selected, tn_index_select(x, 0, indices(x, 9)))
OF(joined, tn_cat((tn_tensor *[]){ x, y }, 2, 1))
OF(lower, tn_tril(x, 1))
OF(hot, tn_one_hot(indices(x, 9), ROWS))
OF(crossed, tn_cross_entropy(x, indices(x, ROWS)))

static const named_operation by_index[] = {
  { "embedding", embedded }, { "gather", gathered },
  { "scatter_add", scattered }, { "index_select", selected },
  { "cat", joined }, { "tril", lower }, { "one_hot", hot },
  { "cross_entropy", crossed }, { NULL, NULL },
};

/* The gradient of a function's weighted sum. */
static tn_tensor *gradient(operation of, tn_tensor *x, tn_tensor *y)
{
  tn_tensor *leaf = tn_requires_grad_(tn_clone(x), true), *grad = NULL;
  tn_tensor *made = of(leaf, y);
  tn_tensor *weights = made ? tn_cos(tn_detach(made)) : NULL;
  if (!weights || tn_grad_of(&made, 1, &leaf, 1, &grad,
                             .grad_outputs = &weights) != TN_OK)
    return NULL;
  return grad;
}

#define GRADIENT(name, of) \
  static tn_tensor *name(tn_tensor *x, tn_tensor *y) \
  { return gradient(of, x, y); }

GRADIENT(of_gelu, gelu_of) GRADIENT(of_tanh, tanh_of) GRADIENT(of_div, tn_div)
GRADIENT(of_sum, row_sums) GRADIENT(of_product, product)
GRADIENT(of_softmax, softmax_of) GRADIENT(of_norm, normed)
GRADIENT(of_attention, attended) GRADIENT(of_embedding, embedded)
GRADIENT(of_loss, crossed)

static const named_operation gradients[] = {
  { "gelu", of_gelu }, { "tanh", of_tanh }, { "div", of_div },
  { "sum", of_sum }, { "matmul", of_product }, { "softmax", of_softmax },
  { "layer_norm", of_norm }, { "attention", of_attention },
  { "embedding", of_embedding }, { "cross_entropy", of_loss },
  { NULL, NULL },
};

OF(to_i32, tn_to(x, .dtype = TN_I32)) OF(to_u8, tn_to(x, .dtype = TN_U8))
OF(to_f32, tn_to(x, .dtype = TN_F32)) OF(to_i64, tn_to(x, .dtype = TN_I64))
OF(to_bool, tn_to(x, .dtype = TN_BOOL))

static const named_operation casts[] = {
  { "f32", to_f32 }, { "i32", to_i32 }, { "i64", to_i64 }, { "u8", to_u8 },
  { "bool", to_bool }, { NULL, NULL },
};

static const named_operation integers[] = {
  { "add", tn_add }, { "sub", tn_sub }, { "mul", tn_mul },
  { "floor_divide", tn_floor_divide }, { "remainder", tn_remainder },
  { "maximum", tn_maximum }, { "lt", tn_lt }, LIST(abs), LIST(sum),
  { "sum of columns", column_sums }, LIST(argmax), { "matmul", product },
  { "f32", to_f32 }, { "u8", to_u8 }, { NULL, NULL },
};

/* One step of Adam from x along y. */
static tn_tensor *stepped(tn_tensor *x, tn_tensor *y)
{
  tn_tensor *leaf = tn_requires_grad_(tn_clone(x), true);
  tn_optim *optim = tn_optim_adamw(&leaf, 1, 1e-2);
  for (int i = 0; i < 3 && optim; i++)
    if (tn_set_grad(leaf, y) != TN_OK || tn_optim_step(optim) != TN_OK)
      leaf = NULL;
  tn_optim_release(optim);
  return leaf;
}

static tn_tensor *descended(tn_tensor *x, tn_tensor *y)
{
  tn_tensor *leaf = tn_requires_grad_(tn_clone(x), true);
  tn_optim *optim = tn_optim_sgd(&leaf, 1, 0.1, .momentum = 0.9);
  for (int i = 0; i < 3 && optim; i++)
    if (tn_set_grad(leaf, y) != TN_OK || tn_optim_step(optim) != TN_OK)
      leaf = NULL;
  tn_optim_release(optim);
  return leaf;
}

static const named_operation steps[] = {
  { "adamw", stepped }, { "sgd", descended }, { NULL, NULL },
};

/* ---- the same in two processes ---- */

/* Numbers of the seed. Special ones are infinities, a NaN, zeros, the least
 * and the greatest. */
static void draw(double *values, tn_dtype dtype, bool has_special)
{
  static const double special[] = { 0, -0.0, 1, -1, 0.5, 1e-40, -3e-42, 3e38,
                                    16777217, 1e-20, 88.7, -104 };
  for (int i = 0; i < COUNT; i++) {
    double v = ((double)conform_random(2000001) - 1000000) / 333333;
    if (has_special && i % 9 == 4) v = special[i / 9 % 12];
    if (has_special && i == 100) v = (double)INFINITY;
    if (has_special && i == 109) v = (double)NAN;
    if (dtype == TN_I32 || dtype == TN_I64) v = trunc(v * 1000);
    if (dtype == TN_U8) v = conform_random(256);
    if (has_special && (dtype == TN_I32) && i == 7) v = INT32_MIN;
    if (has_special && (dtype == TN_I32) && i % 31 == 0) v = 0;
    values[i] = v;
  }
}

/* Wide enough for what is compared of one test. */
enum { ANSWER_MAX = 1 << 20 };

typedef struct answer {
  bool is_made;
  size_t used;
  size_t sizes[64]; /* bytes, of each result */
  char bytes[ANSWER_MAX];
} answer;

/* What is tried, for the child. */
static const named_operation *tried;
static tn_dtype tried_dtype;
static double tried_x[COUNT], tried_y[COUNT];

static void add_answer(answer *a, int i, tn_tensor *t)
{
  size_t size = (size_t)tn_numel(t) * tn_dtype_size(tn_dtype_of(t));
  conform_check(a->used + size <= ANSWER_MAX, "results of %zu bytes",
                a->used + size);
  conform_ok(tn_read(t, a->bytes + a->used, size), "reading a result");
  a->sizes[i] = size;
  a->used += size;
}

static tn_tensor *compute(int i, tn_device device)
{
  tn_shape shape = TN_SHAPE(ROWS, COLUMNS);
  tn_tensor *x = conform_values(device, tried_dtype, shape, tried_x);
  tn_tensor *y = conform_values(device, tried_dtype, shape, tried_y);
  return conform_made(tried[i].make(x, y), "%s of %s", tried[i].name,
                      tn_dtype_name(tried_dtype));
}

/* By cpu's baseline kernels. */
static int compute_on_cpu(void *shared)
{
  answer *a = shared;
  setenv("TENON_CPU_ISA", "baseline", 1);
  if (!tn_is_available("cpu")) return 0;
  tn_device cpu = tn_device_of("cpu:0");
  for (int i = 0; tried[i].name; i++)
    tn_with_scope add_answer(a, i, compute(i, cpu));
  a->is_made = true;
  return 0;
}

static bool is_nan_pair(const char *a, const char *b, tn_dtype dtype)
{
  float f, g;
  double d, e;
  memcpy(&f, a, sizeof f);
  memcpy(&g, b, sizeof g);
  if (dtype == TN_F32) return isnan(f) && isnan(g);
  memcpy(&d, a, sizeof d);
  memcpy(&e, b, sizeof e);
  return dtype == TN_F64 && isnan(d) && isnan(e);
}

static void compare(int i, tn_tensor *t, const char *wanted, size_t size)
{
  static answer own;
  tn_dtype dtype = tn_dtype_of(t);
  size_t each = tn_dtype_size(dtype);
  own.used = 0;
  add_answer(&own, i, t);
  conform_check(own.sizes[i] == size, "%s: %zu bytes in place of %zu",
                tried[i].name, own.sizes[i], size);
  for (size_t at = 0; at < size; at += each) {
    if (memcmp(own.bytes + at, wanted + at, each) == 0) continue;
    if (each >= 4 && is_nan_pair(own.bytes + at, wanted + at, dtype))
      continue;
    float f = 0, g = 0;
    memcpy(&f, own.bytes + at, each < 4 ? each : 4);
    memcpy(&g, wanted + at, each < 4 ? each : 4);
    conform_fail("%s of %s: element %zu has not the bits of cpu (as f32: %a "
                 "in place of %a)", tried[i].name,
                 tn_dtype_name(tried_dtype), at / each, (double)f, (double)g);
  }
}

/* Raw: the child uses the library by itself. */
static void try_all(const named_operation *operations, tn_dtype dtype,
                    bool has_special)
{
  answer *wanted = calloc(1, sizeof *wanted);
  tried = operations;
  tried_dtype = dtype;
  draw(tried_x, dtype, has_special);
  draw(tried_y, dtype, has_special);
  int status = conform_fork(compute_on_cpu, wanted, sizeof *wanted);
  conform_check(status == 0, "cpu's part ended with status %d", status);
  if (!wanted->is_made) conform_absent("another backend: cpu");
  conform_open();
  tn_device_info info = conform_info();
  if (!info.has_launch && !tn_is_available("cpu")) conform_absent("launch");
  if (info.not_reproducible[0])
    conform_absent("the same bits: %s", info.not_reproducible);
  if (dtype == TN_F64 && !info.f64) conform_absent("double");
  tn_set_reproducible(true);
  size_t at = 0;
  for (int i = 0; tried[i].name; i++) {
    tn_with_scope compare(i, compute(i, conform_device), wanted->bytes + at,
                          wanted->sizes[i]);
    at += wanted->sizes[i];
  }
  free(wanted);
}

static void run_functions(void) { try_all(functions, TN_F32, true); }
static void run_elementwise(void) { try_all(elementwise, TN_F32, true); }
static void run_reductions(void) { try_all(reductions, TN_F32, false); }
static void run_products(void) { try_all(products, TN_F32, false); }
static void run_rows(void) { try_all(rows, TN_F32, false); }
static void run_by_index(void) { try_all(by_index, TN_F32, false); }
static void run_gradients(void) { try_all(gradients, TN_F32, false); }
static void run_steps(void) { try_all(steps, TN_F32, false); }
static void run_casts(void) { try_all(casts, TN_F32, true); }
static void run_i32(void) { try_all(integers, TN_I32, true); }
static void run_i64(void) { try_all(integers, TN_I64, true); }
static void run_u8(void) { try_all(integers, TN_U8, true); }
static void run_functions_f64(void) { try_all(functions, TN_F64, true); }
static void run_products_f64(void) { try_all(products, TN_F64, false); }
static void run_rows_f64(void) { try_all(rows, TN_F64, false); }
static void run_reductions_f64(void) { try_all(reductions, TN_F64, false); }

/* ---- N2 ---- */

static void run_reproducible(void)
{
  enum { SIDE = 48 };
  tn_tensor *x = tn_sin(conform_ramp(TN_SHAPE(SIDE, SIDE)));
  conform_made(x, "a matrix");
  tn_set_reproducible(true);
  conform_check(tn_is_reproducible(), "results are to be the same everywhere");
  tn_tensor *first = tn_matmul(x, x);
  tn_set_reproducible(false);
  tn_tensor *vendor = tn_matmul(x, x);
  tn_set_reproducible(true);
  conform_alike(tn_matmul(x, x), first, "a product, switched off and on");
  double worst = tn_item(tn_max(tn_abs(tn_sub(vendor, first))));
  conform_check(worst < 1e-4, "a product by any routine is off by %g", worst);
  conform_alike(tn_clone(first), first, "a copy of it");
}

#define V (CONFORM_LAUNCH_BIT | CONFORM_TENSOR_BIT)
static const conform_test tests[] = {
  { "N1", "functions", CONFORM_FULL, V, true,
    "mathematical functions have cpu's bits", run_functions },
  { "N1", "elementwise", CONFORM_FULL, V, true,
    "so has arithmetic", run_elementwise },
  { "N1", "reductions", CONFORM_FULL, V, true,
    "sums, extremes and running sums", run_reductions },
  { "N1", "products", CONFORM_FULL, V, true,
    "products of matrices", run_products },
  { "N1", "rows", CONFORM_FULL, V, true,
    "softmax, layer norm and attention", run_rows },
  { "N1", "by_index", CONFORM_FULL, V, true,
    "what is found, added and joined by index", run_by_index },
  { "N1", "gradients", CONFORM_FULL, V, true,
    "gradients of all these", run_gradients },
  { "N1", "steps", CONFORM_FULL, V, true,
    "steps of optimisers", run_steps },
  { "N1", "casts", CONFORM_FULL, V, true,
    "casts of f32, also of what does not fit", run_casts },
  { "N1", "i32", CONFORM_FULL, V, true, "arithmetic of i32", run_i32 },
  { "N1", "i64", CONFORM_FULL, V, true, "of i64", run_i64 },
  { "N1", "u8", CONFORM_FULL, V, true, "of u8", run_u8 },
  { "N1", "functions_f64", CONFORM_FULL, V, true, "functions of f64",
    run_functions_f64 },
  { "N1", "products_f64", CONFORM_FULL, V, true, "products of f64",
    run_products_f64 },
  { "N1", "rows_f64", CONFORM_FULL, V, true, "rows of f64", run_rows_f64 },
  { "N1", "reductions_f64", CONFORM_FULL, V, true, "reductions of f64",
    run_reductions_f64 },
  { "N2", "reproducible", CONFORM_FULL, V, false,
    "results can be held to the same bits, and let go", run_reproducible },
};
CONFORM_SECTION(conform_numbers, tests);
