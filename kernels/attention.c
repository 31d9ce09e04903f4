/* Scaled dot product attention of f32. */
#include <tenon/kernel_math.h>

#define REAL float
#define FMA tn_fma
#define EXP_NEG tn_exp_neg
#define LEAST tn_from_bits(0xff800000u) /* -infinity */
#define NAMED(name) name##_f32

#include "attention_forms.h"
