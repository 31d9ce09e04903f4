/* One training step of examples/charlm's model, `count` times. */
#ifndef TN_BENCH_TRAINING_H
#define TN_BENCH_TRAINING_H

#include "bench/libtorch.h"

typedef struct training training;

/* NULL with the library's error set. */
training *training_new(const transformer_shape *shape);
void training_free(training *training);
void training_run(void *training, int64_t count);

/* Captures a step; from then on it can be replayed `count` times. */
void training_capture(training *training);
void training_replay(void *training, int64_t count);

#endif
