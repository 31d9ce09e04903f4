/* Elementwise operations on f64: arithmetic and square roots.  A module of
 * its own, for devices without double must build the others. */
#include <tenon/kernel_lang.h>

#include "elementwise_forms.h"

ARITHMETIC(double)

TN_FUNCTION double of_abs(double a) { return tn_abs_f64(a); }
TN_FUNCTION double of_sqrt(double a) { return tn_sqrt_f64(a); }

BINARY(double, f64, add)
BINARY(double, f64, sub)
BINARY(double, f64, mul)
BINARY(double, f64, div)
BINARY(double, f64, maximum)
BINARY(double, f64, minimum)
UNARY(double, f64, neg)
UNARY(double, f64, abs)
UNARY(double, f64, copy)
UNARY(double, f64, relu)
UNARY(double, f64, sqrt)
FILL(double, f64)

/* y += alpha a, rounded once. */
TN_KERNEL(axpy_f64, TN_OUT(double, y), TN_IN(double, a),
          TN_VAL(double, alpha), TN_VAL(int64, n))
{
  TN_PARALLEL_FOR(i, n)
    y[i] = tn_fma_f64(alpha, a[i], y[i]);
}
