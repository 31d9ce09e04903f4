/* Commands on their way from a stream's callers to its thread: one producer
 * at a time, one consumer, no lock, and no allocation while the consumer
 * keeps up. */
#ifndef TN_BACKENDS_CPU_QUEUE_H
#define TN_BACKENDS_CPU_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest command, in bytes. */
#define TN_CPU_COMMAND_MAX 1024

/* What a command starts with; what follows is its sort's own. */
typedef struct tn_cpu_command {
  void (*run)(struct tn_cpu_command *command);
  uint32_t bytes; /* of all of it, set by reserve */
  uint32_t due;   /* under chaos: a tick */
} tn_cpu_command;

struct tn_cpu_chunk;

typedef struct tn_cpu_queue {
  /* The producer's. `queued` counts commands ever published. */
  _Alignas(64) _Atomic uint64_t queued;
  struct tn_cpu_chunk *write_chunk;
  size_t write_at;
  /* The consumer's. */
  _Alignas(64) struct tn_cpu_chunk *read_chunk;
  size_t read_at;
  /* A used chunk on its way back to the producer. */
  _Alignas(64) _Atomic(struct tn_cpu_chunk *) spare;
} tn_cpu_queue;

/* False without memory. */
bool tn_cpu_queue_create(tn_cpu_queue *queue);

/* Runs nothing: commands still there are forgotten. */
void tn_cpu_queue_destroy(tn_cpu_queue *queue);

/* Room for a command of `bytes` bytes; not seen by the consumer before
 * publish, and taken back by reserving again. NULL without memory. */
void *tn_cpu_queue_reserve(tn_cpu_queue *queue, size_t bytes);

/* Makes the reserved command the last of the queue, and a full barrier: what
 * the producer reads next is read after the consumer can see it. */
void tn_cpu_queue_publish(tn_cpu_queue *queue);

/* The next command; the consumer knows that there is one. It stays until
 * drop. */
tn_cpu_command *tn_cpu_queue_front(tn_cpu_queue *queue);
void tn_cpu_queue_drop(tn_cpu_queue *queue);

#endif
