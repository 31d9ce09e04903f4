/* Gradients beside central differences, in f64. */
#ifndef TN_TESTS_TENSOR_GRADCHECK_H
#define TN_TESTS_TENSOR_GRADCHECK_H

#include "tests/test_device.h"

enum { GRADCHECK_INPUTS = 4, GRADCHECK_DIMS = 4 };

/* Where the elements of inputs lie: not near kinks at 0 and at multiples of a
 * half, all different. */
typedef enum gradcheck_domain {
  GRADCHECK_ANY,      /* within +-2.2 */
  GRADCHECK_POSITIVE  /* 0.3 to 2.5 */
} gradcheck_domain;

typedef enum gradcheck_twice {
  GRADCHECK_TWICE,   /* the gradient's gradient is right too */
  GRADCHECK_REFUSED  /* create_graph is TN_UNSUPPORTED (rule B5) */
} gradcheck_twice;

typedef struct gradcheck_input {
  int ndim;
  int64_t sizes[GRADCHECK_DIMS];
} gradcheck_input;

/* f makes a tensor of the inputs, which require gradients. */
typedef struct gradcheck_case {
  const char *name;
  tn_tensor *(*f)(tn_tensor **x);
  gradcheck_domain domain;
  gradcheck_twice twice;
  int n;
  gradcheck_input inputs[GRADCHECK_INPUTS];
} gradcheck_case;

#define GC_0 { 0, { 0 } }
#define GC_1(a) { 1, { a } }
#define GC_2(a, b) { 2, { a, b } }
#define GC_3(a, b, c) { 3, { a, b, c } }
#define GC_4(a, b, c, d) { 4, { a, b, c, d } }

/* Constant tensors of the device under test, for functions. */
tn_tensor *gradcheck_indices(tn_shape shape, const int64_t *values);
tn_tensor *gradcheck_mask(tn_shape shape); /* bool, in turn true and false */

extern const gradcheck_case gradcheck_elementwise[];
extern const int gradcheck_elementwise_count;
extern const gradcheck_case gradcheck_reductions[];
extern const int gradcheck_reductions_count;
extern const gradcheck_case gradcheck_products[];
extern const int gradcheck_products_count;
extern const gradcheck_case gradcheck_views[];
extern const int gradcheck_views_count;

#endif
