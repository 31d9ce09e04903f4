/* What a kernel's pointers reach: declared, since a signature does not tell.
 * A declaration is a line
 *
 *     MODULE/KERNEL NAME=COUNT:STRIDE,COUNT:STRIDE ...
 *
 * with * and ? in MODULE/KERNEL as in file names. The elements of the pointer
 * NAME (*: every other one) are those of an array of so many dimensions,
 * outermost first; a STRIDE that is not said is 1. COUNT and STRIDE are numbers
 * and names of the kernel's values, with * between factors; @ in a name stands
 * for NAME. The first line that fits counts; # begins a comment. Of a pointer
 * without a declaration only the first element is known to be used. */
#ifndef TN_LAYERS_RACE_EXTENT_H
#define TN_LAYERS_RACE_EXTENT_H

#include "layers/forward.h"

enum { RACE_DIMENSIONS = 4, RACE_FACTORS = 4, RACE_PARAMETERS = 64 };

/* number * the values of the parameters */
typedef struct race_product {
  int64_t number;
  uint8_t factor_count, factors[RACE_FACTORS];
} race_product;

typedef struct race_parameter {
  bool is_pointer, is_written;
  bool is_narrow; /* a value of 4 bytes, sign-extended */
  uint8_t bytes;  /* of an element */
  uint8_t dimension_count;
  race_product counts[RACE_DIMENSIONS], strides[RACE_DIMENSIONS];
} race_parameter;

typedef struct race_kernel {
  int count;
  race_parameter parameters[];
} race_kernel;

/* Declarations of kernels that are not the library's own. A line that is not
 * understood is TN_INVALID_ARGUMENT, with its number. Once, before use. */
tn_status race_extents_read(const tn_host_api *host, const char *path);

/* Of a kernel with that signature; NULL without memory. To be freed. */
race_kernel *race_kernel_make(const forward_kernel *kernel,
                              const char *signature);

/* Calls `touch` for each run of bytes that parameter i reaches, at most
 * RACE_RUNS of them. */
enum { RACE_RUNS = 65536 };
void race_reach(const race_kernel *kernel, int i, const uint64_t *slots,
                void (*touch)(void *context, tn_address at, uint64_t bytes),
                void *context);

/* The declarations of the library's own kernels. */
extern const char race_own_extents[];

#endif
