#include "config.h"

#include "backends/cuda/caller.h"

#include <signal.h>
#include <stdlib.h>

#include "backends/cuda/capture.h"

typedef struct pending_call {
  struct pending_call *next;
  CUevent before; /* all that is ahead of it in the stream */
  uint32_t number;
  void (*function)(void *);
  void *argument;
} pending_call;

struct tn_cuda_caller {
  tn_backend_device *device;
  pthread_t thread;
  uint32_t *done;  /* the number of the last call that ended; pinned */
  uint32_t queued; /* of the last one queued; by the stream's user only */
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  pending_call *first, **last;
  bool is_ending;
};

/* NULL at the end. */
static pending_call *next_call(tn_cuda_caller *caller)
{
  pthread_mutex_lock(&caller->lock);
  while (!caller->first && !caller->is_ending)
    pthread_cond_wait(&caller->changed, &caller->lock);
  pending_call *call = caller->first;
  if (call && !(caller->first = call->next)) caller->last = &caller->first;
  pthread_mutex_unlock(&caller->lock);
  return call;
}

/* A function is called on a broken context too: it may free something. */
static void *run_calls(void *argument)
{
  tn_cuda_caller *caller = argument;
  CUcontext former;
  tn_cuda_enter(caller->device, &former);
  for (pending_call *call; (call = next_call(caller)) != NULL;) {
    CUresult code = cu_.EventSynchronize(call->before);
    if (tn_cuda_is_sticky(code)) tn_cuda_fail(caller->device, code);
    call->function(call->argument);
    __atomic_store_n(caller->done, call->number, __ATOMIC_RELEASE);
    cu_.EventDestroy(call->before);
    free(call);
  }
  return NULL;
}

/* The program's signals are not for this thread, but for faults of the
 * functions that it calls. */
static int start_thread(tn_cuda_caller *caller)
{
  static const int own[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                             SIGTRAP, SIGSYS, SIGABRT };
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(&all, own[i]);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failure = pthread_create(&caller->thread, NULL, run_calls, caller);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

static CUresult alloc_word(tn_cuda_caller *caller)
{
  void *memory = NULL;
  CUstreamCaptureMode mode = tn_cuda_relax(TN_CUDA_RELAXED);
  CUresult code = cu_.MemHostAlloc(&memory, sizeof *caller->done,
                                   TN_CU_MEMHOSTALLOC_PORTABLE);
  tn_cuda_relax(mode);
  caller->done = memory;
  if (!code) *caller->done = 0;
  return code;
}

/* The word and the thread. */
static tn_status start(tn_cuda_caller *caller)
{
  CUresult code = alloc_word(caller);
  if (code) return tn_cuda_check(code, "cuMemHostAlloc", caller->device);
  int failure = start_thread(caller);
  if (failure == 0) return TN_OK;
  cu_.MemFreeHost(caller->done);
  return tn_host->error(TN_OUT_OF_MEMORY,
                        "no thread for host functions: error %d", failure);
}

static void discard(tn_cuda_caller *caller)
{
  pthread_cond_destroy(&caller->changed);
  pthread_mutex_destroy(&caller->lock);
  free(caller);
}

tn_status tn_cuda_caller_new(tn_backend_device *device,
                             tn_cuda_caller **caller)
{
  tn_cuda_caller *made = calloc(1, sizeof *made);
  if (!made)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "no host memory for host functions");
  made->device = device;
  made->last = &made->first;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  tn_status status = start(made);
  if (status) discard(made);
  else *caller = made;
  return status;
}

void tn_cuda_caller_free(tn_cuda_caller *caller)
{
  if (!caller) return;
  pthread_mutex_lock(&caller->lock);
  caller->is_ending = true;
  pthread_cond_signal(&caller->changed);
  pthread_mutex_unlock(&caller->lock);
  pthread_join(caller->thread, NULL);
  CUstreamCaptureMode mode = tn_cuda_relax(TN_CUDA_RELAXED);
  cu_.MemFreeHost(caller->done);
  tn_cuda_relax(mode);
  discard(caller);
}

/* The event that the thread waits for, and the wait of the stream. */
static CUresult queue_wait(const tn_cuda_caller *caller, CUstream stream,
                           pending_call *call)
{
  CUresult code = cu_.EventCreate(
      &call->before, TN_CU_EVENT_DISABLE_TIMING | TN_CU_EVENT_BLOCKING_SYNC);
  if (code) return code;
  code = cu_.EventRecord(call->before, stream);
  if (!code)
    code = cu_.StreamWaitValue32(stream,
                                 (CUdeviceptr)(uintptr_t)caller->done,
                                 call->number, TN_CU_STREAM_WAIT_VALUE_GEQ);
  if (code) cu_.EventDestroy(call->before);
  return code;
}

tn_status tn_cuda_caller_queue(tn_cuda_caller *caller, CUstream stream,
                               void (*function)(void *), void *argument)
{
  pending_call *call = calloc(1, sizeof *call);
  if (!call)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "no host memory to queue a host function");
  call->function = function;
  call->argument = argument;
  call->number = caller->queued + 1;
  CUresult code = queue_wait(caller, stream, call);
  if (code) {
    free(call);
    return tn_cuda_check(code, "queueing a host function", caller->device);
  }
  caller->queued++;
  pthread_mutex_lock(&caller->lock);
  *caller->last = call;
  caller->last = &call->next;
  pthread_cond_signal(&caller->changed);
  pthread_mutex_unlock(&caller->lock);
  return TN_OK;
}
