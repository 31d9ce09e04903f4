/* Elementwise operations on u8, and what is special to bool: 0 or 1. */
#include <tenon/kernel_lang.h>

#define INTEGER uint8
#define UNSIGNED uint8
#define SUFFIX u8
#define IS_SIGNED 0
#include "elementwise_integer.h"

/* Truth: 0, or anything else. */
TN_FUNCTION uint8 of_and(uint8 a, uint8 b) { return (a != 0) & (b != 0); }
TN_FUNCTION uint8 of_or(uint8 a, uint8 b) { return (a != 0) | (b != 0); }
TN_FUNCTION uint8 of_xor(uint8 a, uint8 b) { return (a != 0) ^ (b != 0); }
TN_FUNCTION uint8 of_not(uint8 a) { return a == 0; }
BINARY(uint8, u8, and)
BINARY(uint8, u8, or)
BINARY(uint8, u8, xor)
FLAT_UNARY(uint8, u8, not)
