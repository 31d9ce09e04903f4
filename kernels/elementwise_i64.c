/* Elementwise operations on i64. */
#include <tenon/kernel_lang.h>

#define INTEGER int64
#define UNSIGNED uint64
#define SUFFIX i64
#define IS_SIGNED 1
#include "elementwise_integer.h"
