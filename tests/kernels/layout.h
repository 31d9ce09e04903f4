/* Layouts of strided kernels' operands, by chance. */
#ifndef TN_TESTS_KERNELS_LAYOUT_H
#define TN_TESTS_KERNELS_LAYOUT_H

#include "tests/kernels/trial.h"

/* Four dimensions, outermost first. */
typedef struct layout {
  int64_t size[4], stride[4], extent; /* extent: elements it reaches over */
} layout;

/* Of one shape and `count` layouts, the first being that of the output. The
 * trial's size says about how many rows. */
void random_layouts(kernel_trial *trial, layout *layouts, int count);

/* Where element i, counted in order, is. */
int64_t layout_place(const layout *l, int64_t i);

/* How many elements. */
int64_t layout_count(const layout *l);

#define SIZES(l)                                                     \
  TN_ARG_I64((l).size[0]), TN_ARG_I64((l).size[1]),                  \
      TN_ARG_I64((l).size[2]), TN_ARG_I64((l).size[3])
#define STRIDES(l)                                                   \
  TN_ARG_I64((l).stride[0]), TN_ARG_I64((l).stride[1]),              \
      TN_ARG_I64((l).stride[2]), TN_ARG_I64((l).stride[3])

#endif
