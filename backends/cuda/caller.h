/* Host functions in a stream. The driver's own (cuLaunchHostFunc) may run one
 * after another for all streams, so that one which blocks holds up the others,
 * and not at all once the context is broken. So a stream that has any gets a
 * thread: the stream waits for a word in memory, which the thread writes when
 * it has waited for the stream and called the function. */
#ifndef TN_CUDA_CALLER_H
#define TN_CUDA_CALLER_H

#include "backends/cuda/device.h"

typedef struct tn_cuda_caller tn_cuda_caller;

/* With the device's context current. */
tn_status tn_cuda_caller_new(tn_backend_device *device,
                             tn_cuda_caller **caller);

/* All functions were called. With the device's context current. */
void tn_cuda_caller_free(tn_cuda_caller *caller);

/* Queues a call on the stream it belongs to. With the device's context
 * current. */
tn_status tn_cuda_caller_queue(tn_cuda_caller *caller, CUstream stream,
                               void (*function)(void *), void *argument);

#endif
