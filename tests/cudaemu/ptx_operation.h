/* For tests of single instructions: runs one over many operands and compares
 * each result with what C says. */
#ifndef TN_TESTS_CUDAEMU_PTX_OPERATION_H
#define TN_TESTS_CUDAEMU_PTX_OPERATION_H

#include <stdint.h>
#include <string.h>

#include "tests/cudaemu/ptx_device.h"

/* One instruction: its name, the types of its registers, from the result
 * on ("f32 f32 f32"), and its meaning on the bits of the operands.  A name
 * with a % in it is a piece of PTX that computes %v0 from %v1, %v2, %v3. */
typedef struct ptx_operation {
  const char *name, *types;
  uint64_t (*meaning)(uint64_t a, uint64_t b, uint64_t c);
  double near; /* relative error that an f32 result may have; 0: no bit */
} ptx_operation;

/* One TAP line for each operation. */
void ptx_operation_check(const ptx_operation *operations, size_t count);

typedef uint16_t b16_value;
typedef uint32_t b32_value;
typedef uint64_t b64_value;
typedef uint16_t u16_value;
typedef uint32_t u32_value;
typedef uint64_t u64_value;
typedef int16_t s16_value;
typedef int32_t s32_value;
typedef int64_t s64_value;
typedef float f32_value;
typedef double f64_value;

/* The bits of a result; NaN of f32 and f64 are as documented. */
static inline uint64_t ptx_bits_of(const void *value, size_t size)
{
  uint64_t bits = 0;
  memcpy(&bits, value, size);
  return bits;
}

/* Defines the meaning of an operation: an expression in a, b, c. */
#define MEANING(name, D, A, B, C, ...)                                \
  static uint64_t name(uint64_t a_, uint64_t b_, uint64_t c_)         \
  {                                                                   \
    A##_value a;                                                      \
    B##_value b;                                                      \
    C##_value c;                                                      \
    memcpy(&a, &a_, sizeof a);                                        \
    memcpy(&b, &b_, sizeof b);                                        \
    memcpy(&c, &c_, sizeof c);                                        \
    (void)a, (void)b, (void)c;                                        \
    D##_value d = (D##_value)(__VA_ARGS__);                           \
    return ptx_bits_of(&d, sizeof d);                                 \
  }

#endif
