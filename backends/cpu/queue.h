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
  uint16_t bytes; /* of all of it, set by reserve */
  bool is_urgent; /* for commands that care */
  uint32_t due;   /* under chaos: a tick */
} tn_cpu_command;

/* Commands are aligned to it. */
#define TN_CPU_COMMAND_ALIGNMENT 16
/* How far ahead of itself the producer fetches lines; in vain at the end of a
 * chunk. */
#define TN_CPU_COMMANDS_AHEAD 1024

struct tn_cpu_chunk;

typedef struct tn_cpu_queue {
  /* The producer's. `queued` counts commands ever published. */
  _Alignas(64) _Atomic uint64_t queued;
  struct tn_cpu_chunk *write_chunk;
  char *write_at, *write_end; /* within it */
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

/* For reserve: ends the producer's chunk and begins another. */
bool tn_cpu_queue_extend(tn_cpu_queue *queue);

/* Room for a command of `bytes` bytes; not seen by the consumer before
 * publish, and taken back by reserving again. NULL without memory. */
static inline void *tn_cpu_queue_reserve(tn_cpu_queue *queue, size_t bytes)
{
  bytes = (bytes + TN_CPU_COMMAND_ALIGNMENT - 1) &
          ~(size_t)(TN_CPU_COMMAND_ALIGNMENT - 1);
  size_t room = (size_t)(queue->write_end - queue->write_at);
  if (bytes + sizeof(tn_cpu_command) > room && !tn_cpu_queue_extend(queue))
    return NULL;
  tn_cpu_command *command = (tn_cpu_command *)(void *)queue->write_at;
  command->bytes = (uint16_t)bytes;
  return command;
}

/* A line that both sides hold is the dearest to write to. So the consumer
 * writes once more to those it is done with, which makes them its own, and the
 * producer fetches them well before it gets there. */
static inline void tn_cpu_queue_fetch(const char *at)
{
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*at));
#else
  __builtin_prefetch(at, 1);
#endif
}

/* Makes the reserved command the last of the queue. No barrier: what the
 * producer reads next may be older. */
static inline void tn_cpu_queue_publish(tn_cpu_queue *queue)
{
  uint64_t queued =
    atomic_load_explicit(&queue->queued, memory_order_relaxed);
  queue->write_at += ((tn_cpu_command *)(void *)queue->write_at)->bytes;
  atomic_store_explicit(&queue->queued, queued + 1, memory_order_release);
  tn_cpu_queue_fetch(queue->write_at + TN_CPU_COMMANDS_AHEAD);
}

/* The next command; the consumer knows that there is one. It stays until
 * drop. */
tn_cpu_command *tn_cpu_queue_front(tn_cpu_queue *queue);
void tn_cpu_queue_drop(tn_cpu_queue *queue);

#endif
