#include "backends/cpu/queue.h"

#include <stdlib.h>

#define CHUNK_BYTES 16384

/* Commands one after another; the last is followed by an `end`, a command
 * without a function, where the next chunk begins. */
typedef struct tn_cpu_chunk {
  struct tn_cpu_chunk *next;
  _Alignas(TN_CPU_COMMAND_ALIGNMENT) char space[CHUNK_BYTES];
} tn_cpu_chunk;

_Static_assert(CHUNK_BYTES >= 4 * TN_CPU_COMMAND_MAX &&
                 TN_CPU_COMMAND_MAX <= UINT16_MAX, "chunks are too small");

static void write_from(tn_cpu_queue *queue, tn_cpu_chunk *chunk)
{
  queue->write_chunk = chunk;
  queue->write_at = chunk->space;
  queue->write_end = chunk->space + CHUNK_BYTES;
}

bool tn_cpu_queue_create(tn_cpu_queue *queue)
{
  tn_cpu_chunk *chunk = malloc(sizeof *chunk);
  if (!chunk) return false;
  atomic_store_explicit(&queue->queued, 0, memory_order_relaxed);
  atomic_store_explicit(&queue->spare, NULL, memory_order_relaxed);
  queue->read_chunk = chunk;
  queue->read_at = 0;
  write_from(queue, chunk);
  return true;
}

void tn_cpu_queue_destroy(tn_cpu_queue *queue)
{
  free(atomic_load_explicit(&queue->spare, memory_order_acquire));
  while (queue->read_chunk != queue->write_chunk) {
    tn_cpu_chunk *chunk = queue->read_chunk;
    queue->read_chunk = chunk->next;
    free(chunk);
  }
  free(queue->read_chunk);
}

static tn_cpu_command *command_at(tn_cpu_chunk *chunk, size_t at)
{
  return (tn_cpu_command *)(void *)(chunk->space + at);
}

bool tn_cpu_queue_extend(tn_cpu_queue *queue)
{
  tn_cpu_chunk *chunk =
    atomic_exchange_explicit(&queue->spare, NULL, memory_order_acquire);
  if (!chunk) chunk = malloc(sizeof *chunk);
  if (!chunk) return false;
  ((tn_cpu_command *)(void *)queue->write_at)->run = NULL;
  queue->write_chunk->next = chunk;
  write_from(queue, chunk);
  return true;
}

static inline void give_back(volatile tn_cpu_command *command)
{
  command->due = 0;
}

tn_cpu_command *tn_cpu_queue_front(tn_cpu_queue *queue)
{
  tn_cpu_command *command = command_at(queue->read_chunk, queue->read_at);
  if (command->run) return command;
  tn_cpu_chunk *used = queue->read_chunk;
  queue->read_chunk = used->next;
  queue->read_at = 0;
  free(atomic_exchange_explicit(&queue->spare, used, memory_order_acq_rel));
  return command_at(queue->read_chunk, 0);
}

void tn_cpu_queue_drop(tn_cpu_queue *queue)
{
  tn_cpu_command *command = command_at(queue->read_chunk, queue->read_at);
  queue->read_at += command->bytes;
  give_back(command);
}
