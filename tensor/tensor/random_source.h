/* Random numbers in graphs (rule G5): what a graph draws from a generator is
 * drawn anew at each replay. */
#ifndef TN_TENSOR_TENSOR_RANDOM_SOURCE_H
#define TN_TENSOR_TENSOR_RANDOM_SOURCE_H

#include "tensor/tensor/generator.h"

/* One graph's share of one generator. Before a replay of that graph it takes
 * as many blocks as the capture drew; kernels of the graph, and those of
 * others that repeat its choices (backward passes), then get their seed and
 * offset from it. */
typedef struct tn_random_source tn_random_source;

/* Draws blocks in a capture, into the piece; the generator does not move. */
tn_status tn_random_source_draw(tn_graph *graph, tn_generator *generator,
                                uint64_t blocks, tn_random_piece *piece);

/* Whether a capture of this thread has drawn from the generator. */
bool tn_random_source_is_drawn(const tn_generator *generator);

/* ---- in generator.c ---- */

/* Takes blocks for a replay. */
tn_random_piece tn_generator_advance(tn_generator *generator,
                                     uint64_t blocks);

#endif
