/* Elementwise operations on i32. */
#include <tenon/kernel_lang.h>

#define INTEGER int32
#define UNSIGNED uint32
#define SUFFIX i32
#define IS_SIGNED 1
#include "elementwise_integer.h"
