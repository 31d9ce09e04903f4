/* The same work in libtorch (Debian: libtorch-dev), for comparison: built
 * only where it is found. */
#ifndef TN_BENCH_LIBTORCH_H
#define TN_BENCH_LIBTORCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void libtorch_set_threads(int threads);

/* One-element f32 tensors, no gradients: z = x + y, with and without a new
 * z. */
void libtorch_add_run(void *unused, int64_t count);
void libtorch_add_out_run(void *unused, int64_t count);

/* Forward and backward of a chain of BENCH_CHAIN multiplications of a
 * one-element tensor; `count` chains. */
#define BENCH_CHAIN 10
void libtorch_chain_run(void *unused, int64_t count);

/* y = layer norm, softmax along rows, sum; matrix products. */
typedef struct libtorch_rows libtorch_rows;
libtorch_rows *libtorch_rows_new(int64_t rows, int64_t columns);
void libtorch_rows_free(libtorch_rows *rows);
void libtorch_layer_norm_run(void *rows, int64_t count);
void libtorch_softmax_run(void *rows, int64_t count);
void libtorch_sum_run(void *rows, int64_t count);
void libtorch_matmul_run(void *rows, int64_t count); /* by itself */
void libtorch_matvec_run(void *rows, int64_t count); /* by its first row */

/* A transformer over characters, and one training step of it: forward,
 * cross entropy, backward, AdamW. */
typedef struct transformer_shape {
  int64_t vocabulary, context, width, heads, layers, batch;
} transformer_shape;
typedef struct libtorch_model libtorch_model;
libtorch_model *libtorch_model_new(const transformer_shape *shape);
void libtorch_model_free(libtorch_model *model);
void libtorch_step_run(void *model, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
