/* The commands of a graph, one after another in one piece of memory. Runs that
 * are queued hold it, so it is copied before it is changed under them. */
#ifndef TN_BACKENDS_CPU_RECORDING_H
#define TN_BACKENDS_CPU_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cpu/queue.h"
#include "tenon/kernel_lang.h"

/* A command made ready: a launch's kernel with its arguments, or one of
 * another sort; neither: nothing is to be done. */
typedef struct tn_cpu_node {
  void (*run)(tn_range range, const uint64_t *slots);
  uint64_t *slots;
  int64_t items;
  uint32_t slot_count;
  tn_cpu_command *command;
} tn_cpu_node;

typedef struct tn_cpu_recording {
  _Atomic int holders;
  char *commands;
  size_t used, capacity; /* bytes of commands */
  size_t *places;        /* of each command in them; SIZE_MAX: there is none */
  uint32_t count, room;  /* of places */
  uint32_t told;         /* of those, by tn_cpu_recording_node */
  tn_cpu_node *nodes;    /* once it is finished */
} tn_cpu_recording;

/* NULL without memory. */
tn_cpu_recording *tn_cpu_recording_new(void);
void tn_cpu_recording_drop(tn_cpu_recording *recording); /* NULL: nothing */

/* Room for a command, as in a queue: it counts once it is published. NULL
 * without memory. */
tn_cpu_command *tn_cpu_recording_reserve(tn_cpu_recording *recording,
                                         size_t bytes);
void tn_cpu_recording_publish(tn_cpu_recording *recording);

/* The number of what was published since the last call; of nothing, if nothing
 * was. False without memory. */
bool tn_cpu_recording_node(tn_cpu_recording *recording, uint64_t *number);

/* Makes the nodes ready. False without memory. */
bool tn_cpu_recording_finish(tn_cpu_recording *recording);

/* A finished one again, with one holder; NULL without memory. */
tn_cpu_recording *tn_cpu_recording_copy(const tn_cpu_recording *recording);

#endif
