#include "backends/cpu/recording.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/launch.h"

#define ALIGNMENT 16

tn_cpu_recording *tn_cpu_recording_new(void)
{
  tn_cpu_recording *recording = calloc(1, sizeof *recording);
  if (recording) atomic_init(&recording->holders, 1);
  return recording;
}

void tn_cpu_recording_drop(tn_cpu_recording *recording)
{
  if (!recording || atomic_fetch_sub(&recording->holders, 1) != 1) return;
  free(recording->commands);
  free(recording->places);
  free(recording->nodes);
  free(recording);
}

static bool room_for_command(tn_cpu_recording *recording, size_t bytes)
{
  size_t capacity = recording->capacity ? recording->capacity : 4096;
  while (capacity - recording->used < bytes)
    if (__builtin_mul_overflow(capacity, (size_t)2, &capacity)) return false;
  if (capacity == recording->capacity) return true;
  char *larger = realloc(recording->commands, capacity);
  if (!larger) return false;
  recording->commands = larger;
  recording->capacity = capacity;
  return true;
}

static bool room_for_place(tn_cpu_recording *recording)
{
  if (recording->count < recording->room) return true;
  uint32_t room = recording->room ? recording->room : 32;
  if (room > UINT32_MAX / 2) return false;
  size_t *larger = realloc(recording->places, 2 * (size_t)room *
                                                sizeof *larger);
  if (!larger) return false;
  recording->places = larger;
  recording->room = 2 * room;
  return true;
}

tn_cpu_command *tn_cpu_recording_reserve(tn_cpu_recording *recording,
                                         size_t bytes)
{
  bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (!room_for_command(recording, bytes) || !room_for_place(recording))
    return NULL;
  tn_cpu_command *command =
    (tn_cpu_command *)(void *)(recording->commands + recording->used);
  *command = (tn_cpu_command){ .bytes = (uint16_t)bytes };
  return command;
}

void tn_cpu_recording_publish(tn_cpu_recording *recording)
{
  const tn_cpu_command *command =
    (tn_cpu_command *)(void *)(recording->commands + recording->used);
  recording->places[recording->count++] = recording->used;
  recording->used += command->bytes;
}

bool tn_cpu_recording_node(tn_cpu_recording *recording, uint64_t *number)
{
  if (recording->told == recording->count) {
    if (!room_for_place(recording)) return false;
    recording->places[recording->count++] = SIZE_MAX;
  }
  recording->told = recording->count;
  *number = recording->count - 1;
  return true;
}

bool tn_cpu_recording_finish(tn_cpu_recording *recording)
{
  recording->nodes = calloc((size_t)recording->count + 1,
                            sizeof *recording->nodes);
  if (!recording->nodes) return false;
  for (uint32_t i = 0; i < recording->count; i++) {
    if (recording->places[i] == SIZE_MAX) continue;
    tn_cpu_node *node = &recording->nodes[i];
    node->command =
      (tn_cpu_command *)(void *)(recording->commands + recording->places[i]);
    tn_cpu_launch_make_node(node);
  }
  return true;
}

tn_cpu_recording *tn_cpu_recording_copy(const tn_cpu_recording *recording)
{
  tn_cpu_recording *copy = tn_cpu_recording_new();
  if (!copy) return NULL;
  copy->used = copy->capacity = recording->used;
  copy->count = copy->room = copy->told = recording->count;
  copy->commands = malloc(copy->used + 1);
  copy->places = malloc((copy->count + (size_t)1) * sizeof *copy->places);
  if (copy->commands && copy->places) {
    memcpy(copy->commands, recording->commands, copy->used);
    memcpy(copy->places, recording->places,
           copy->count * sizeof *copy->places);
    if (tn_cpu_recording_finish(copy)) return copy;
  }
  tn_cpu_recording_drop(copy);
  return NULL;
}
