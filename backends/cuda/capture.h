/* A program may be capturing a graph of its own on some stream; calls such as
 * cuMemAlloc would then be refused and spoil its capture. */
#ifndef TN_CUDA_CAPTURE_H
#define TN_CUDA_CAPTURE_H

#include "backends/cuda/loader.h"

/* Lets this thread make such calls until it calls again with what it got. */
static inline CUstreamCaptureMode tn_cuda_relax(CUstreamCaptureMode mode)
{
  if (cu_.ThreadExchangeStreamCaptureMode(&mode))
    mode = (CUstreamCaptureMode)TN_CU_STREAM_CAPTURE_MODE_RELAXED;
  return mode;
}

#define TN_CUDA_RELAXED \
  ((CUstreamCaptureMode)TN_CU_STREAM_CAPTURE_MODE_RELAXED)

#endif
