/* Running sums of f64: see cumsum_forms.h. */
#include <tenon/kernel_lang.h>

#include "cumsum_forms.h"

#define of_sum(a, b) ((a) + (b))
CUMSUM(double, f64)
