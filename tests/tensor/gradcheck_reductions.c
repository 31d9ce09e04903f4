/* Reductions, operations along rows, losses. */
#include "config.h"

#include "tests/tensor/gradcheck.h"

#define FORM(name, expression) \
  static tn_tensor *name(tn_tensor **x) { return expression; }

FORM(sum, tn_sum(x[0]))
FORM(sum_dim, tn_sum_dim(x[0], 0, false))
FORM(sum_dim_kept, tn_sum_dim(x[0], -1, true))
FORM(sum_dims, tn_sum_dims(x[0], TN_SHAPE(0, 2), false))
FORM(sum_dims_kept, tn_sum_dims(x[0], TN_SHAPE(1, -1), true))
FORM(sum_of_square, tn_sum(tn_mul(x[0], x[0])))
FORM(mean, tn_mean(x[0]))
FORM(mean_dim, tn_mean_dim(x[0], 1, false))
FORM(mean_dims, tn_mean_dims(x[0], TN_SHAPE(0, 1), true))
FORM(prod, tn_prod(x[0]))
FORM(prod_dim, tn_prod_dim(x[0], 1, false))
FORM(amax, tn_amax(x[0]))
FORM(amax_dim, tn_amax_dim(x[0], 0, false))
FORM(amin, tn_amin(x[0]))
FORM(amin_dim, tn_amin_dim(x[0], 1, true))
FORM(max, tn_max(x[0]))
FORM(max_dim, tn_max_dim(x[0], 1, false))
FORM(min, tn_min(x[0]))
FORM(min_dim, tn_min_dim(x[0], 0, false))
FORM(norm, tn_norm(x[0]))
FORM(norm_dim, tn_norm_dim(x[0], 1, true))
FORM(var, tn_var(x[0], 1))
FORM(var_dim, tn_var_dim(x[0], 1, 0, false))
FORM(std, tn_std(x[0], 1))
FORM(std_dim, tn_std_dim(x[0], 0, 1, true))
FORM(cumsum, tn_cumsum(x[0], 0))
FORM(cumsum_last, tn_cumsum(x[0], -1))

FORM(softmax, tn_softmax(x[0], -1))
FORM(softmax_first, tn_softmax(x[0], 0))
FORM(log_softmax, tn_log_softmax(x[0], 1))
FORM(layer_norm, tn_layer_norm(x[0], TN_SHAPE(5), x[1], x[2], 1e-5))
FORM(layer_norm_plain, tn_layer_norm(x[0], TN_SHAPE(2, 3), NULL, NULL, 1e-3))
FORM(layer_norm_weight, tn_layer_norm(x[0], TN_SHAPE(5), x[1], NULL, 1e-5))
FORM(dropout_none, tn_dropout(x[0], 0.5, false))
FORM(mse_loss, tn_mse_loss(x[0], x[1]))

static tn_tensor *targets(void)
{
  return gradcheck_indices(TN_SHAPE(3), (const int64_t[]){ 1, -100, 3 });
}

FORM(cross_entropy, tn_cross_entropy(x[0], targets()))
FORM(cross_entropy_sum,
     tn_cross_entropy_with(x[0], targets(), TN_LOSS_SUM, -100))
FORM(cross_entropy_none,
     tn_cross_entropy_with(x[0], targets(), TN_LOSS_NONE, -100))
FORM(nll_loss, tn_nll_loss(x[0], targets()))
FORM(nll_loss_sum, tn_nll_loss_with(x[0], targets(), TN_LOSS_SUM, -100))
FORM(nll_loss_none, tn_nll_loss_with(x[0], targets(), TN_LOSS_NONE, -100))

/* The same numbers are dropped each time. */
static tn_tensor *dropout(tn_tensor **x)
{
  tn_manual_seed(7);
  return tn_dropout(x[0], 0.5, true);
}

#define CASE(f, a) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_TWICE, 1, { a } }
#define ONCE(f, a) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_REFUSED, 1, { a } }
#define ONCE_2(f, a, b) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_REFUSED, 2, { a, b } }
#define ONCE_3(f, a, b, c) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_REFUSED, 3, { a, b, c } }
#define CASE_2(f, a, b) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_TWICE, 2, { a, b } }

const gradcheck_case gradcheck_reductions[] = {
  CASE(sum, GC_2(2, 3)),
  CASE(sum, GC_0),
  CASE(sum_dim, GC_2(2, 3)),
  CASE(sum_dim, GC_0),
  CASE(sum_dim_kept, GC_2(2, 3)),
  CASE(sum_dims, GC_3(2, 3, 2)),
  CASE(sum_dims_kept, GC_3(2, 3, 2)),
  CASE(sum_of_square, GC_2(2, 3)),
  CASE(mean, GC_2(2, 3)),
  CASE(mean_dim, GC_2(2, 3)),
  CASE(mean_dims, GC_3(2, 3, 2)),
  ONCE(prod, GC_2(2, 3)),
  ONCE(prod_dim, GC_2(2, 3)),
  CASE(amax, GC_2(2, 3)),
  CASE(amax_dim, GC_2(2, 3)),
  CASE(amin, GC_2(2, 3)),
  CASE(amin_dim, GC_2(2, 3)),
  CASE(max, GC_2(2, 3)),
  CASE(max_dim, GC_2(2, 3)),
  CASE(min, GC_2(2, 3)),
  CASE(min_dim, GC_2(2, 3)),
  CASE(norm, GC_2(2, 3)),
  CASE(norm_dim, GC_2(2, 3)),
  CASE(var, GC_2(2, 3)),
  CASE(var_dim, GC_2(2, 3)),
  CASE(std, GC_2(2, 3)),
  CASE(std_dim, GC_2(3, 2)),
  CASE(cumsum, GC_2(3, 2)),
  CASE(cumsum_last, GC_2(2, 3)),
  CASE(softmax, GC_2(2, 5)),
  CASE(softmax_first, GC_3(3, 2, 2)),
  CASE(log_softmax, GC_2(2, 5)),
  ONCE_3(layer_norm, GC_2(3, 5), GC_1(5), GC_1(5)),
  ONCE(layer_norm_plain, GC_3(2, 2, 3)),
  ONCE_2(layer_norm_weight, GC_2(3, 5), GC_1(5)),
  CASE(dropout, GC_2(4, 3)),
  CASE(dropout_none, GC_2(2, 3)),
  CASE_2(mse_loss, GC_2(2, 3), GC_2(2, 3)),
  CASE(cross_entropy, GC_2(3, 4)),
  CASE(cross_entropy_sum, GC_2(3, 4)),
  CASE(cross_entropy_none, GC_2(3, 4)),
  CASE(nll_loss, GC_2(3, 4)),
  CASE(nll_loss_sum, GC_2(3, 4)),
  CASE(nll_loss_none, GC_2(3, 4)),
};
const int gradcheck_reductions_count =
  sizeof gradcheck_reductions / sizeof *gradcheck_reductions;
