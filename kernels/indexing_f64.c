/* Sums of f64 by index.  A module of its own, for devices without double
 * must build the others. */
#include <tenon/kernel_lang.h>

#include "scatter_forms.h"

SCATTER(f64, double, double)
