/* Operations element by element. */
#include "config.h"

#include "tests/tensor/gradcheck.h"

#include <math.h>

#define TWO(name, call) \
  static tn_tensor *name(tn_tensor **x) { return call(x[0], x[1]); }
#define ONE(name, call) \
  static tn_tensor *name(tn_tensor **x) { return call(x[0]); }
#define FORM(name, expression) \
  static tn_tensor *name(tn_tensor **x) { return expression; }

TWO(add, tn_add)
TWO(sub, tn_sub)
TWO(mul, tn_mul)
TWO(divide, tn_div)
TWO(power, tn_pow)
TWO(remainder_of, tn_remainder)
TWO(maximum, tn_maximum)
TWO(minimum, tn_minimum)
FORM(same_twice, tn_mul(x[0], x[0]))
FORM(add_alpha, tn_add_alpha(x[0], x[1], 2.5))
FORM(sub_alpha, tn_sub_alpha(x[0], x[1], -1.5))
FORM(add_in_place, tn_add_(tn_clone(x[0]), x[1]))
FORM(sub_in_place, tn_sub_(tn_clone(x[0]), x[1]))
FORM(mul_in_place, tn_mul_(tn_clone(x[0]), x[1]))
FORM(div_in_place, tn_div_(tn_clone(x[0]), x[1]))
FORM(pow_in_place, tn_pow_(tn_clone(x[0]), x[1]))
FORM(maximum_in_place, tn_maximum_(tn_clone(x[0]), x[1]))
FORM(minimum_in_place, tn_minimum_(tn_clone(x[0]), x[1]))
FORM(add_alpha_in_place, tn_add_alpha_(tn_clone(x[0]), x[1], 0.5))
FORM(sub_alpha_in_place, tn_sub_alpha_(tn_clone(x[0]), x[1], 0.5))

FORM(add_scalar, tn_add_scalar(x[0], 3))
FORM(sub_scalar, tn_sub_scalar(x[0], 3))
FORM(mul_scalar, tn_mul_scalar(x[0], -2.5))
FORM(div_scalar, tn_div_scalar(x[0], 0.7))
FORM(pow_scalar, tn_pow_scalar(x[0], 3))
FORM(square, tn_pow_scalar(x[0], 2))
FORM(power_zero, tn_pow_scalar(x[0], 0))
FORM(pow_scalar_half, tn_pow_scalar(x[0], -1.5))
FORM(remainder_scalar, tn_remainder_scalar(x[0], 0.9))
FORM(maximum_scalar, tn_maximum_scalar(x[0], 0))
FORM(minimum_scalar, tn_minimum_scalar(x[0], 0))
FORM(rsub_scalar, tn_rsub_scalar(x[0], 2))
FORM(rdiv_scalar, tn_rdiv_scalar(x[0], 2))
FORM(rpow_scalar, tn_rpow_scalar(x[0], 1.7))
FORM(add_scalar_in_place, tn_add_scalar_(tn_clone(x[0]), 3))
FORM(mul_scalar_in_place, tn_mul_scalar_(tn_clone(x[0]), 3))
FORM(div_scalar_in_place, tn_div_scalar_(tn_clone(x[0]), 3))
FORM(pow_scalar_in_place, tn_pow_scalar_(tn_clone(x[0]), 3))

ONE(neg, tn_neg)
ONE(absolute, tn_abs)
ONE(sign_of, tn_sign)
ONE(floor_of, tn_floor)
ONE(ceil_of, tn_ceil)
ONE(round_of, tn_round)
ONE(exp_of, tn_exp)
ONE(expm1_of, tn_expm1)
ONE(log_of, tn_log)
ONE(log1p_of, tn_log1p)
ONE(sqrt_of, tn_sqrt)
ONE(rsqrt_of, tn_rsqrt)
ONE(reciprocal_of, tn_reciprocal)
ONE(sin_of, tn_sin)
ONE(cos_of, tn_cos)
ONE(tan_of, tn_tan)
ONE(tanh_of, tn_tanh)
ONE(sigmoid_of, tn_sigmoid)
ONE(erf_of, tn_erf)
ONE(relu_of, tn_relu)
ONE(gelu_of, tn_gelu)
ONE(gelu_tanh_of, tn_gelu_tanh)
ONE(silu_of, tn_silu)

#define IN_PLACE(op) FORM(op##_in_place, tn_##op##_(tn_clone(x[0])))
IN_PLACE(neg)
IN_PLACE(abs)
IN_PLACE(exp)
IN_PLACE(expm1)
IN_PLACE(log)
IN_PLACE(log1p)
IN_PLACE(sqrt)
IN_PLACE(rsqrt)
IN_PLACE(reciprocal)
IN_PLACE(sin)
IN_PLACE(cos)
IN_PLACE(tan)
IN_PLACE(tanh)
IN_PLACE(sigmoid)
IN_PLACE(erf)
IN_PLACE(relu)
IN_PLACE(gelu)
IN_PLACE(silu)

FORM(clamp_both, tn_clamp(x[0], -1, 1))
FORM(clamp_low, tn_clamp(x[0], -0.5, INFINITY))
FORM(clamp_in_place, tn_clamp_(tn_clone(x[0]), -INFINITY, 0.5))
FORM(where_of, tn_where(gradcheck_mask(TN_SHAPE(2, 3)), x[0], x[1]))
FORM(masked_fill_of,
     tn_masked_fill(x[0], gradcheck_mask(TN_SHAPE(3)), 0.5))
FORM(masked_fill_in_place,
     tn_masked_fill_(tn_clone(x[0]), gradcheck_mask(TN_SHAPE(2, 3)), 0.5))
FORM(fill_in_place, tn_mul(tn_fill_(tn_clone(x[0]), 3), x[0]))
FORM(zero_in_place, tn_add(tn_zero_(tn_clone(x[0])), x[0]))
FORM(copy_in_place, tn_copy_(tn_clone(x[0]), x[1]))
FORM(copy_mixed, tn_copy_(tn_mul(x[0], x[0]), tn_exp(x[1])))
FORM(clone_of, tn_clone(x[0]))
FORM(contiguous_of, tn_contiguous(tn_transpose(x[0], 0, 1)))
FORM(to_copy, tn_to(x[0], .copy = true))
FORM(to_same, tn_mul(tn_to(x[0], .dtype = TN_F64), x[0]))

#define CASE_1(f, domain) \
  { #f, f, GRADCHECK_##domain, GRADCHECK_TWICE, 1, { GC_2(2, 3) } }
#define CASE_2(f, domain, a, b) \
  { #f, f, GRADCHECK_##domain, GRADCHECK_TWICE, 2, { a, b } }

const gradcheck_case gradcheck_elementwise[] = {
  CASE_2(add, ANY, GC_2(2, 3), GC_2(2, 3)),
  CASE_2(add, ANY, GC_2(2, 1), GC_3(2, 1, 3)),
  CASE_2(add, ANY, GC_0, GC_1(3)),
  CASE_2(sub, ANY, GC_2(2, 3), GC_1(1)),
  CASE_2(sub, ANY, GC_1(3), GC_0),
  CASE_2(mul, ANY, GC_2(2, 3), GC_2(2, 3)),
  CASE_2(mul, ANY, GC_2(4, 1), GC_2(1, 4)),
  CASE_2(mul, ANY, GC_1(1), GC_2(5, 4)),
  CASE_2(mul, ANY, GC_4(2, 1, 2, 3), GC_4(2, 1, 2, 1)),
  CASE_2(divide, ANY, GC_2(2, 3), GC_1(3)),
  CASE_2(divide, ANY, GC_1(3), GC_3(2, 1, 1)),
  CASE_2(power, POSITIVE, GC_2(2, 3), GC_2(1, 3)),
  CASE_2(remainder_of, POSITIVE, GC_2(2, 3), GC_2(2, 3)),
  CASE_2(maximum, ANY, GC_2(2, 3), GC_1(3)),
  CASE_2(minimum, ANY, GC_2(2, 1), GC_2(2, 3)),
  CASE_1(same_twice, ANY),
  CASE_2(add_alpha, ANY, GC_2(2, 3), GC_1(3)),
  CASE_2(sub_alpha, ANY, GC_1(3), GC_2(2, 3)),
  CASE_2(add_in_place, ANY, GC_2(2, 3), GC_1(3)),
  CASE_2(sub_in_place, ANY, GC_2(2, 3), GC_2(2, 1)),
  CASE_2(mul_in_place, ANY, GC_2(2, 3), GC_0),
  CASE_2(div_in_place, ANY, GC_2(2, 3), GC_2(2, 3)),
  CASE_2(pow_in_place, POSITIVE, GC_2(2, 3), GC_2(2, 3)),
  CASE_2(maximum_in_place, ANY, GC_2(2, 3), GC_2(2, 3)),
  CASE_2(minimum_in_place, ANY, GC_2(2, 3), GC_1(3)),
  CASE_2(add_alpha_in_place, ANY, GC_2(2, 3), GC_1(3)),
  CASE_2(sub_alpha_in_place, ANY, GC_2(2, 3), GC_1(1)),
  CASE_1(add_scalar, ANY),
  CASE_1(sub_scalar, ANY),
  CASE_1(mul_scalar, ANY),
  CASE_1(div_scalar, ANY),
  CASE_1(pow_scalar, ANY),
  CASE_1(square, ANY),
  CASE_1(power_zero, ANY),
  CASE_1(pow_scalar_half, POSITIVE),
  CASE_1(remainder_scalar, ANY),
  CASE_1(maximum_scalar, ANY),
  CASE_1(minimum_scalar, ANY),
  CASE_1(rsub_scalar, ANY),
  CASE_1(rdiv_scalar, ANY),
  CASE_1(rpow_scalar, ANY),
  CASE_1(add_scalar_in_place, ANY),
  CASE_1(mul_scalar_in_place, ANY),
  CASE_1(div_scalar_in_place, ANY),
  CASE_1(pow_scalar_in_place, ANY),
  CASE_1(neg, ANY),
  CASE_1(absolute, ANY),
  CASE_1(sign_of, ANY),
  CASE_1(floor_of, ANY),
  CASE_1(ceil_of, ANY),
  CASE_1(round_of, ANY),
  CASE_1(exp_of, ANY),
  CASE_1(expm1_of, ANY),
  CASE_1(log_of, POSITIVE),
  CASE_1(log1p_of, POSITIVE),
  CASE_1(sqrt_of, POSITIVE),
  CASE_1(rsqrt_of, POSITIVE),
  CASE_1(reciprocal_of, ANY),
  CASE_1(sin_of, ANY),
  CASE_1(cos_of, ANY),
  CASE_1(tan_of, POSITIVE),
  CASE_1(tanh_of, ANY),
  CASE_1(sigmoid_of, ANY),
  CASE_1(erf_of, ANY),
  CASE_1(relu_of, ANY),
  CASE_1(gelu_of, ANY),
  CASE_1(gelu_tanh_of, ANY),
  CASE_1(silu_of, ANY),
  CASE_1(neg_in_place, ANY),
  CASE_1(abs_in_place, ANY),
  CASE_1(exp_in_place, ANY),
  CASE_1(expm1_in_place, ANY),
  CASE_1(log_in_place, POSITIVE),
  CASE_1(log1p_in_place, POSITIVE),
  CASE_1(sqrt_in_place, POSITIVE),
  CASE_1(rsqrt_in_place, POSITIVE),
  CASE_1(reciprocal_in_place, ANY),
  CASE_1(sin_in_place, ANY),
  CASE_1(cos_in_place, ANY),
  CASE_1(tan_in_place, POSITIVE),
  CASE_1(tanh_in_place, ANY),
  CASE_1(sigmoid_in_place, ANY),
  CASE_1(erf_in_place, ANY),
  CASE_1(relu_in_place, ANY),
  CASE_1(gelu_in_place, ANY),
  CASE_1(silu_in_place, ANY),
  CASE_1(clamp_both, ANY),
  CASE_1(clamp_low, ANY),
  CASE_1(clamp_in_place, ANY),
  CASE_2(where_of, ANY, GC_2(2, 3), GC_1(3)),
  CASE_1(masked_fill_of, ANY),
  CASE_1(masked_fill_in_place, ANY),
  CASE_1(fill_in_place, ANY),
  CASE_1(zero_in_place, ANY),
  CASE_2(copy_in_place, ANY, GC_2(2, 3), GC_1(3)),
  CASE_2(copy_mixed, ANY, GC_2(2, 3), GC_2(2, 1)),
  CASE_1(clone_of, ANY),
  CASE_1(contiguous_of, ANY),
  CASE_1(to_copy, ANY),
  CASE_1(to_same, ANY),
};
const int gradcheck_elementwise_count =
  sizeof gradcheck_elementwise / sizeof *gradcheck_elementwise;
