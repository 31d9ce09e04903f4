/* The devices that the driver shows. */
#ifndef TN_CUDA_DEVICE_H
#define TN_CUDA_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include "backends/cuda/error.h"
#include "backends/cuda/trail.h"

/* Limits of launches. */
typedef struct tn_cuda_limits {
  uint32_t block[3], grid[3];
  uint32_t group_threads;   /* of a block */
  uint32_t units;           /* multiprocessors */
  uint64_t max_pitch;       /* bytes, of copies of rows */
} tn_cuda_limits;

/* What ended the context; written once, before `code` is set. */
typedef struct tn_cuda_failure {
  int code; /* CUresult, 0: none; atomic */
  tn_tag tag;
  char who[128]; /* kernel "axpy" */
  char text[512]; /* what happened to it */
} tn_cuda_failure;

typedef struct tn_cuda_event tn_cuda_event;

struct tn_backend_device {
  CUdevice id;
  CUcontext context; /* the primary one, retained; NULL while closed */
  tn_backend_device_info info;
  tn_cuda_limits limits;
  int most_urgent;   /* stream priority: 0 or below */
  pthread_mutex_t lock; /* of what follows, never held in a driver call */
  tn_cuda_event *spare_events[2]; /* [1]: with timing */
  tn_cuda_trail *trails; /* of all streams, also past ones */
  tn_cuda_failure failure;
  CUstream service; /* for small copies of our own */
};

/* Keeps what ended a device's context and which command may have been it.
 * Only the first call of a device counts. */
void tn_cuda_fail(tn_backend_device *device, CUresult code);

static inline bool tn_cuda_is_lost(const tn_backend_device *device)
{
  return __atomic_load_n(&device->failure.code, __ATOMIC_ACQUIRE) != 0;
}

/* Makes a device's context the thread's until tn_cuda_leave, to which the
 * former one is given. A context of the program's comes back then; a thread
 * that had none keeps ours, so that the next call costs one look. */
static inline CUresult tn_cuda_enter(const tn_backend_device *device,
                                     CUcontext *former)
{
  *former = NULL;
  CUresult code = cu_.CtxGetCurrent(former);
  if (__builtin_expect(code == TN_CUDA_SUCCESS &&
                       *former == device->context, 1))
    return TN_CUDA_SUCCESS;
  return code ? code : cu_.CtxSetCurrent(device->context);
}

static inline void tn_cuda_leave(const tn_backend_device *device,
                                 CUcontext former)
{
  if (__builtin_expect(former && former != device->context, 0))
    cu_.CtxSetCurrent(former);
}

extern const tn_backend_device_table tn_cuda_device_table;

#endif
