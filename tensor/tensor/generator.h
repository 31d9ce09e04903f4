/* Where random numbers come from: a seed's stream and how much of it has been
 * used. */
#ifndef TN_TENSOR_TENSOR_GENERATOR_H
#define TN_TENSOR_TENSOR_GENERATOR_H

#include "tenon/graph.h"
#include "tenon/ops.h"
#include "tensor/tensor/place.h"

/* A piece of the stream: blocks from `offset` on. With a source (one
 * reference), which was drawn from in a capture, the offset counts from where
 * the source's blocks begin at each replay. */
typedef struct tn_random_piece {
  uint64_t seed, offset;
  struct tn_random_source *source;
} tn_random_piece;

/* Takes the next `blocks` blocks; generator NULL: of the place's default one.
 * Fails for a generator of another device. */
tn_status tn_generator_take(tn_generator *generator, tn_place *place,
                            uint64_t blocks, const char *operation,
                            tn_random_piece *piece);

tn_device tn_generator_device(const tn_generator *generator);

/* ---- random_source.c ---- */

tn_random_piece tn_random_piece_retain(tn_random_piece piece);
void tn_random_piece_release(tn_random_piece piece);

/* Seed and offset as they are now, for a kernel's arguments. */
tn_random_piece tn_random_piece_now(tn_random_piece piece);

/* After a launch with the piece: if it was captured, its arguments `argument`
 * (the seed) and the next one (the offset) follow the source. */
tn_status tn_random_piece_use(tn_random_piece piece, tn_device device,
                              size_t argument);

#endif
