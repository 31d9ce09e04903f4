/* Tenon: operations on tensors.
 *
 * Operands are broadcast and promoted as in PyTorch; the result is on their
 * device. Operands on different devices are TN_DEVICE_MISMATCH, except for a
 * 0-dimensional cpu tensor, which combines with any device. Shapes that do
 * not fit are TN_SHAPE_MISMATCH, dtypes TN_DTYPE_MISMATCH. Ownership: see
 * tensor.h. What is computed, to the last bit, is in docs/numbers.md.
 *
 * OP_ works in place (its dtype and shape stay), OP_out writes to a tensor
 * that is there, of the result's shape; it has no gradient. Both return that
 * tensor, without a new reference. Numbers in place of a tensor are `double`;
 * a whole one counts as an integer where dtypes are promoted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_OPS_H
#define TENON_OPS_H

#include "tenon/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- two operands ---- */

/* X(name): tn_NAME(a, b), tn_NAME_(a, b), tn_NAME_out(out, a, b),
 * tn_NAME_scalar(a, number), tn_NAME_scalar_(a, number). */
#define TN_BINARY_MAP(X)                                                \
  X(add) X(sub) X(mul) X(div) X(floor_divide) X(remainder) X(pow)       \
  X(maximum) X(minimum)

/* The same; results are bool. */
#define TN_COMPARISON_MAP(X) X(eq) X(ne) X(lt) X(le) X(gt) X(ge)

#define TN_BINARY_CALLS_(name)                                          \
  TN_API tn_tensor *tn_##name(tn_tensor *a, tn_tensor *b);              \
  TN_API tn_tensor *tn_##name##_(tn_tensor *a, tn_tensor *b);           \
  TN_API tn_tensor *tn_##name##_out(tn_tensor *out, tn_tensor *a,       \
                                    tn_tensor *b);                      \
  TN_API tn_tensor *tn_##name##_scalar(tn_tensor *a, double b);         \
  TN_API tn_tensor *tn_##name##_scalar_(tn_tensor *a, double b);
TN_BINARY_MAP(TN_BINARY_CALLS_)
TN_COMPARISON_MAP(TN_BINARY_CALLS_)

/* a + alpha b, a - alpha b; for floats alpha b is not rounded on its own. */
TN_API tn_tensor *tn_add_alpha(tn_tensor *a, tn_tensor *b, double alpha);
TN_API tn_tensor *tn_add_alpha_(tn_tensor *a, tn_tensor *b, double alpha);
TN_API tn_tensor *tn_sub_alpha(tn_tensor *a, tn_tensor *b, double alpha);
TN_API tn_tensor *tn_sub_alpha_(tn_tensor *a, tn_tensor *b, double alpha);

/* number - a, number / a, number to the power of a. */
TN_API tn_tensor *tn_rsub_scalar(tn_tensor *a, double number);
TN_API tn_tensor *tn_rdiv_scalar(tn_tensor *a, double number);
TN_API tn_tensor *tn_rpow_scalar(tn_tensor *a, double number);

/* Anything but 0 counts as true; results are bool. */
TN_API tn_tensor *tn_logical_and(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_or(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_xor(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_not(tn_tensor *a);

/* condition (bool) ? a : b, element by element. */
TN_API tn_tensor *tn_where(tn_tensor *condition, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_masked_fill(tn_tensor *t, tn_tensor *mask, double value);
TN_API tn_tensor *tn_masked_fill_(tn_tensor *t, tn_tensor *mask,
                                  double value);

/* ---- one operand ---- */

/* X(name): tn_NAME(t), tn_NAME_(t), tn_NAME_out(out, t). Those of real
 * functions make f32 of integers. */
#define TN_UNARY_MAP(X)                                                  \
  X(neg) X(abs) X(sign) X(floor) X(ceil) X(round)                        \
  X(exp) X(expm1) X(log) X(log1p) X(sqrt) X(rsqrt) X(reciprocal)         \
  X(sin) X(cos) X(tan) X(tanh) X(sigmoid) X(erf)                         \
  X(relu) X(gelu) X(silu)

#define TN_UNARY_CALLS_(name)                                           \
  TN_API tn_tensor *tn_##name(tn_tensor *t);                            \
  TN_API tn_tensor *tn_##name##_(tn_tensor *t);                         \
  TN_API tn_tensor *tn_##name##_out(tn_tensor *out, tn_tensor *t);
TN_UNARY_MAP(TN_UNARY_CALLS_)

/* The approximation of gelu by tanh. */
TN_API tn_tensor *tn_gelu_tanh(tn_tensor *t);
TN_API tn_tensor *tn_isnan(tn_tensor *t); /* bool */

/* Within [low, high]; a NaN stays one. Infinities: no bound. */
TN_API tn_tensor *tn_clamp(tn_tensor *t, double low, double high);
TN_API tn_tensor *tn_clamp_(tn_tensor *t, double low, double high);

TN_API tn_tensor *tn_fill_(tn_tensor *t, double value);
TN_API tn_tensor *tn_zero_(tn_tensor *t);

/* ---- reductions ---- */

/* X(name): tn_NAME(t) over all elements, tn_NAME_dim(t, dim, keepdim).
 * Sums and products of integers are i64; mean, std, var and norm take floats;
 * argmax and argmin give i64 (of a whole tensor: the index in row order); all
 * and any give bool. amax, amin and max, min are the same. */
#define TN_REDUCTION_MAP(X)                                             \
  X(sum) X(mean) X(prod) X(amax) X(amin) X(max) X(min)                  \
  X(argmax) X(argmin) X(all) X(any) X(norm)

#define TN_REDUCTION_CALLS_(name)                                       \
  TN_API tn_tensor *tn_##name(tn_tensor *t);                            \
  TN_API tn_tensor *tn_##name##_dim(tn_tensor *t, int dim, bool keepdim);
TN_REDUCTION_MAP(TN_REDUCTION_CALLS_)

/* Over several dimensions; none: over all. */
TN_API tn_tensor *tn_sum_dims(tn_tensor *t, tn_shape dims, bool keepdim);
TN_API tn_tensor *tn_mean_dims(tn_tensor *t, tn_shape dims, bool keepdim);

/* Divided by n - correction. */
TN_API tn_tensor *tn_var(tn_tensor *t, double correction);
TN_API tn_tensor *tn_var_dim(tn_tensor *t, int dim, double correction,
                             bool keepdim);
TN_API tn_tensor *tn_std(tn_tensor *t, double correction);
TN_API tn_tensor *tn_std_dim(tn_tensor *t, int dim, double correction,
                             bool keepdim);
TN_API tn_tensor *tn_cumsum(tn_tensor *t, int dim);

/* ---- products ---- */

TN_API tn_tensor *tn_matmul(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_mm(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bmm(tn_tensor *a, tn_tensor *b);

/* beta c + alpha a b. */
TN_API tn_tensor *tn_addmm(tn_tensor *c, tn_tensor *a, tn_tensor *b,
                           double beta, double alpha);

/* x weight^T + bias; weight [out, in], bias [out] or NULL for none. */
TN_API tn_tensor *tn_linear(tn_tensor *x, tn_tensor *weight,
                            tn_tensor *bias);

/* softmax(scale q k^T + mask) v; q [..., L, E], k [..., S, E], v [..., S, V].
 * mask: NULL, bool (true: takes part) or floats that are added, broadcast to
 * [..., L, S]. causal: row i sees columns up to i. scale 0: 1 / sqrt(E). */
TN_API tn_tensor *tn_scaled_dot_product_attention(tn_tensor *q, tn_tensor *k,
                                                  tn_tensor *v,
                                                  tn_tensor *mask,
                                                  bool causal, double scale);

/* ---- rows ---- */

TN_API tn_tensor *tn_softmax(tn_tensor *t, int dim);
TN_API tn_tensor *tn_log_softmax(tn_tensor *t, int dim);

/* Over the last dimensions, which must be `shape`; weight and bias of that
 * shape, or NULL. */
TN_API tn_tensor *tn_layer_norm(tn_tensor *x, tn_shape shape,
                                tn_tensor *weight, tn_tensor *bias,
                                double eps);

/* Zeroes elements with probability p and scales the others by 1 / (1 - p);
 * the tensor itself if not training. */
TN_API tn_tensor *tn_dropout(tn_tensor *t, double p, bool training);

typedef enum tn_loss_reduction {
  TN_LOSS_MEAN,
  TN_LOSS_SUM,
  TN_LOSS_NONE
} tn_loss_reduction;

#define TN_IGNORE_INDEX (-100)

/* Scores [n, classes], target classes i64 [n]; targets of TN_IGNORE_INDEX do
 * not count. nll_loss takes logarithms of probabilities. A target that is no
 * class is TN_INVALID_ARGUMENT: the host looks at the targets, so that the
 * call waits for what is queued on the current stream; while that is captured
 * it does not look, and the loss of such a target is a NaN. */
TN_API tn_tensor *tn_cross_entropy(tn_tensor *scores, tn_tensor *targets);
TN_API tn_tensor *tn_cross_entropy_with(tn_tensor *scores,
                                        tn_tensor *targets,
                                        tn_loss_reduction reduction,
                                        int64_t ignore_index);
TN_API tn_tensor *tn_nll_loss(tn_tensor *log_probabilities,
                              tn_tensor *targets);
TN_API tn_tensor *tn_nll_loss_with(tn_tensor *log_probabilities,
                                   tn_tensor *targets,
                                   tn_loss_reduction reduction,
                                   int64_t ignore_index);
TN_API tn_tensor *tn_mse_loss(tn_tensor *input, tn_tensor *target);

/* ---- by index; indices are i64 (or i32) ----
 *
 * An index outside is TN_INVALID_ARGUMENT, naming it: the indices are looked
 * at, so that the call waits for what is queued on the current stream. While a
 * graph is captured they are not: such an index then gives 0, or adds
 * nothing. */

/* weight [count, width], indices of any shape: shape + [width]. */
TN_API tn_tensor *tn_embedding(tn_tensor *weight, tn_tensor *indices);

/* out[i][j] = t[index[i][j]][j] for dim 0, and so on. */
TN_API tn_tensor *tn_gather(tn_tensor *t, int dim, tn_tensor *index);

/* A copy of t to which values were added: out[index[i][j]][j] += values[i][j]
 * for dim 0; equal indices in the order of their positions. */
TN_API tn_tensor *tn_scatter_add(tn_tensor *t, int dim, tn_tensor *index,
                                 tn_tensor *values);
TN_API tn_tensor *tn_scatter_add_(tn_tensor *t, int dim, tn_tensor *index,
                                  tn_tensor *values);
TN_API tn_tensor *tn_index_select(tn_tensor *t, int dim, tn_tensor *index);
TN_API tn_tensor *tn_cat(tn_tensor *const *tensors, int n, int dim);
TN_API tn_tensor *tn_stack(tn_tensor *const *tensors, int n, int dim);
TN_API tn_tensor *tn_tril(tn_tensor *t, int64_t diagonal);
TN_API tn_tensor *tn_triu(tn_tensor *t, int64_t diagonal);
TN_API tn_tensor *tn_one_hot(tn_tensor *indices, int64_t classes); /* i64 */

/* ---- random numbers: the same on every device for the same seed ---- */

typedef struct tn_generator tn_generator;

/* Of every device's default generator, used or not yet. */
TN_API void tn_manual_seed(uint64_t seed);
TN_API tn_generator *tn_generator_new(tn_device device);
TN_API tn_generator *tn_generator_default(tn_device device); /* borrowed */
TN_API tn_generator *tn_generator_retain(tn_generator *generator);
TN_API void tn_generator_release(tn_generator *generator);
TN_API tn_status tn_generator_seed(tn_generator *generator, uint64_t seed);
TN_API uint64_t tn_generator_initial_seed(const tn_generator *generator);
TN_API tn_status tn_generator_state(const tn_generator *generator,
                                    uint64_t *seed, uint64_t *offset);
TN_API tn_status tn_generator_set_state(tn_generator *generator,
                                        uint64_t seed, uint64_t offset);

/* generator: NULL for the device's default one. */
TN_API tn_tensor *tn_uniform_(tn_tensor *t, double low, double high,
                              tn_generator *generator);
TN_API tn_tensor *tn_normal_(tn_tensor *t, double mean, double deviation,
                             tn_generator *generator);

#ifdef __cplusplus
}
#endif
#endif
