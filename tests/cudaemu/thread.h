/* What the double keeps of each host thread. */
#ifndef TN_TESTS_CUDAEMU_THREAD_H
#define TN_TESTS_CUDAEMU_THREAD_H

#include "tests/cudaemu/emulator.h"

typedef struct emu_thread {
  emu_context *context; /* current */
  unsigned generation;  /* of it, when it became so */
  unsigned number;      /* counted from 1; 0: not asked for by now */
  CUstreamCaptureMode capture_mode;
  bool is_called_back;  /* within a host function: no calls */
  CUresult planned; /* for the command that this call queues */
  const char *call; /* in progress */
} emu_thread;

extern _Thread_local emu_thread emu_here;

#endif
