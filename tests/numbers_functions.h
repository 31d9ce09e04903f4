/* docs/numbers.md in plain C: functions, besides those in
 * numbers_reference.h. */
#ifndef TN_TESTS_NUMBERS_FUNCTIONS_H
#define TN_TESTS_NUMBERS_FUNCTIONS_H

#define FUNCTIONS_OF_ONE(X)                                              \
  X(expm1) X(log1p) X(rsqrt) X(tan) X(reciprocal) X(sign) X(sigmoid)     \
  X(silu) X(gelu) X(gelu_tanh)
#define FUNCTIONS_OF_DIVISION(X) X(pow) X(remainder) X(floor_divide)
/* Of the incoming gradient, and the result (relu, sigmoid, tanh) or the
 * argument. */
#define FUNCTIONS_BACKWARD(X)                                            \
  X(relu_backward) X(sigmoid_backward) X(tanh_backward) X(silu_backward) \
  X(gelu_backward) X(gelu_tanh_backward)

#define DECLARE_ONE(name) \
  float ref_##name(float x); \
  double ref_##name##_f64(double x);
#define DECLARE_TWO(name) \
  float ref_##name(float a, float b); \
  double ref_##name##_f64(double a, double b);
FUNCTIONS_OF_ONE(DECLARE_ONE)
FUNCTIONS_OF_DIVISION(DECLARE_TWO)
FUNCTIONS_BACKWARD(DECLARE_TWO)
#undef DECLARE_ONE
#undef DECLARE_TWO

/* Those that numbers_reference.h has in f32. */
double ref_exp_f64(double x);
double ref_log_f64(double x);
double ref_tanh_f64(double x);
double ref_erf_f64(double x);
double ref_sin_f64(double x);
double ref_cos_f64(double x);

#endif
