/* Where random numbers come from: a seed's stream and how much of it has been
 * used. */
#ifndef TN_TENSOR_TENSOR_GENERATOR_H
#define TN_TENSOR_TENSOR_GENERATOR_H

#include "tenon/ops.h"
#include "tensor/tensor/place.h"

/* A piece of the stream: blocks from `offset` on. */
typedef struct tn_random_piece {
  uint64_t seed, offset;
} tn_random_piece;

/* Takes the next `blocks` blocks; generator NULL: of the place's default one.
 * Fails for a generator of another device. */
tn_status tn_generator_take(tn_generator *generator, tn_place *place,
                            uint64_t blocks, const char *operation,
                            tn_random_piece *piece);

#endif
