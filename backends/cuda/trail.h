/* What was queued lately on each stream, to say after a failure which command
 * it was. The driver does not tell: all it has left then is one code for every
 * call. So each stream notes its commands in a small ring, and how many of
 * them a point has shown to be complete; the rest are the candidates. */
#ifndef TN_CUDA_TRAIL_H
#define TN_CUDA_TRAIL_H

#include "tenon/backend.h"

#define TN_CUDA_TRAIL_SIZE 256 /* a power of two */

typedef enum tn_cuda_command_kind {
  TN_CUDA_KERNEL,
  TN_CUDA_COPY,
  TN_CUDA_FILL,
  TN_CUDA_HOST_FUNCTION,
  TN_CUDA_GRAPH
} tn_cuda_command_kind;

typedef struct tn_cuda_step {
  tn_tag tag;       /* of a graph, the address of its contents */
  const char *name; /* of the kernel, for the whole process */
  int kind;         /* tn_cuda_command_kind */
} tn_cuda_step;

/* Written by the thread that uses the stream, read by any after a failure. */
typedef struct tn_cuda_trail {
  struct tn_cuda_trail *next; /* of the device */
  uint64_t queued;   /* commands so far; atomic */
  uint64_t complete; /* as far as is known; atomic */
  int in_use;        /* by a stream; the device's lock */
  tn_cuda_step steps[TN_CUDA_TRAIL_SIZE];
} tn_cuda_trail;

/* Notes a command that was queued. */
static inline void tn_cuda_trail_add(tn_cuda_trail *trail, int kind,
                                     const char *name, tn_tag tag)
{
  uint64_t queued = __atomic_load_n(&trail->queued, __ATOMIC_RELAXED);
  tn_cuda_step *step = trail->steps + (queued & (TN_CUDA_TRAIL_SIZE - 1));
  __atomic_store_n(&step->tag, tag, __ATOMIC_RELAXED);
  __atomic_store_n(&step->name, name, __ATOMIC_RELAXED);
  __atomic_store_n(&step->kind, kind, __ATOMIC_RELAXED);
  __atomic_store_n(&trail->queued, queued + 1, __ATOMIC_RELEASE);
}

/* The commands of a graph, each sort once. */
#define TN_CUDA_CONTENTS_MAX 16

typedef struct tn_cuda_contents_list {
  unsigned count;
  int is_cut; /* there were more */
  tn_cuda_step steps[TN_CUDA_CONTENTS_MAX];
} tn_cuda_contents_list;

typedef struct tn_cuda_contents {
  struct tn_cuda_contents *next; /* of the process */
  tn_cuda_contents_list list;
} tn_cuda_contents;

/* Adds the latest command of a trail whose stream is captured: it is taken as
 * complete there, for it does not run. */
void tn_cuda_contents_note(tn_cuda_contents_list *list, tn_cuda_trail *trail);

/* The same contents for the whole process; NULL without memory. */
const tn_cuda_contents *tn_cuda_contents_keep(
    const tn_cuda_contents_list *list);

/* Notes a run of a graph. */
static inline void tn_cuda_trail_add_graph(tn_cuda_trail *trail,
                                           const tn_cuda_contents *contents)
{
  tn_cuda_trail_add(trail, TN_CUDA_GRAPH, NULL, (tn_tag)(uintptr_t)contents);
}

/* Notes that the first `count` commands are complete. */
void tn_cuda_trail_reach(tn_cuda_trail *trail, uint64_t count);

/* A trail for a new stream, NULL without memory (no error is set). Lives until
 * tn_cuda_trails_free. */
tn_cuda_trail *tn_cuda_trail_take(tn_backend_device *device);
void tn_cuda_trail_give(tn_backend_device *device, tn_cuda_trail *trail);
void tn_cuda_trails_free(tn_backend_device *device);

/* The same text for the whole process, "?" without memory. */
const char *tn_cuda_name_keep(const char *name);

#endif
