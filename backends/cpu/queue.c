#include "backends/cpu/queue.h"

#include <stdlib.h>

#define CHUNK_BYTES 16384
#define ALIGNMENT 16

/* Commands one after another; the last is followed by an `end`, a command
 * without a function, where the next chunk begins. */
typedef struct tn_cpu_chunk {
  struct tn_cpu_chunk *next;
  _Alignas(ALIGNMENT) char space[CHUNK_BYTES];
} tn_cpu_chunk;

_Static_assert(CHUNK_BYTES >= 4 * TN_CPU_COMMAND_MAX, "chunks are too small");

bool tn_cpu_queue_create(tn_cpu_queue *queue)
{
  tn_cpu_chunk *chunk = malloc(sizeof *chunk);
  if (!chunk) return false;
  atomic_store_explicit(&queue->queued, 0, memory_order_relaxed);
  atomic_store_explicit(&queue->spare, NULL, memory_order_relaxed);
  queue->write_chunk = queue->read_chunk = chunk;
  queue->write_at = queue->read_at = 0;
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

/* Ends the producer's chunk and begins another. */
static bool chunk_begin(tn_cpu_queue *queue)
{
  tn_cpu_chunk *chunk =
    atomic_exchange_explicit(&queue->spare, NULL, memory_order_acquire);
  if (!chunk) chunk = malloc(sizeof *chunk);
  if (!chunk) return false;
  command_at(queue->write_chunk, queue->write_at)->run = NULL;
  queue->write_chunk->next = chunk;
  queue->write_chunk = chunk;
  queue->write_at = 0;
  return true;
}

void *tn_cpu_queue_reserve(tn_cpu_queue *queue, size_t bytes)
{
  bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  size_t end = queue->write_at + bytes + sizeof(tn_cpu_command);
  if (end > CHUNK_BYTES && !chunk_begin(queue)) return NULL;
  tn_cpu_command *command = command_at(queue->write_chunk, queue->write_at);
  command->bytes = (uint32_t)bytes;
  return command;
}

void tn_cpu_queue_publish(tn_cpu_queue *queue)
{
  uint64_t queued =
    atomic_load_explicit(&queue->queued, memory_order_relaxed);
  queue->write_at += command_at(queue->write_chunk, queue->write_at)->bytes;
  atomic_store(&queue->queued, queued + 1);
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
  queue->read_at += command_at(queue->read_chunk, queue->read_at)->bytes;
}
