/* Scaled dot product attention of f64.  A module of its own, for devices
 * without double must build the others. */
#include <tenon/kernel_math_f64.h>

#define REAL double
#define FMA tn_fma_f64
#define EXP_NEG tn_exp_neg_f64
#define LEAST tn_from_bits_f64(0xfff0000000000000u) /* -infinity */
#define NAMED(name) name##_f64

#include "attention_forms.h"
