#include "tests/cudaemu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536 };

typedef struct ptx_arena_block {
  struct ptx_arena_block *next;
  size_t used, size; /* of the bytes behind this header */
} arena_block;

enum { HEADER = (sizeof(arena_block) + 15) / 16 * 16 };

static arena_block *add_block(ptx_arena *arena, size_t size)
{
  arena_block *block = NULL;
  if (size <= SIZE_MAX - HEADER)
    block = calloc(1, HEADER + size);
  if (!block)
    longjmp(*arena->exhausted, 1);
  block->size = size;
  block->next = arena->blocks;
  arena->blocks = block;
  return block;
}

void *ptx_arena_take(ptx_arena *arena, size_t size)
{
  if (size > SIZE_MAX / 2)
    longjmp(*arena->exhausted, 1);
  size = (size + 15) / 16 * 16;
  arena_block *block = arena->blocks;
  if (!block || block->size - block->used < size)
    block = add_block(arena, size > BLOCK ? size : BLOCK);
  void *taken = (char *)block + HEADER + block->used;
  block->used += size;
  return taken;
}

char *ptx_arena_text(ptx_arena *arena, const char *text, size_t length)
{
  char *copy = ptx_arena_take(arena, length + 1);
  memcpy(copy, text, length);
  return copy;
}

void ptx_arena_free(ptx_arena *arena)
{
  while (arena->blocks) {
    arena_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
}

void *ptx_arena_grow(ptx_arena *arena, void *array, size_t count,
                     size_t *capacity, size_t element_size)
{
  if (count < *capacity)
    return array;
  size_t larger = *capacity ? *capacity * 2 : 16;
  if (larger > SIZE_MAX / 4 / element_size)
    longjmp(*arena->exhausted, 1);
  void *moved = ptx_arena_take(arena, larger * element_size);
  if (count)
    memcpy(moved, array, count * element_size);
  *capacity = larger;
  return moved;
}

typedef struct ptx_map_slot {
  const char *name;
  size_t length;
  void *value;
} map_slot;

static size_t hash(const char *name, size_t length)
{
  uint64_t h = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < length; i++)
    h = (h ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
  return (size_t)(h ^ h >> 32);
}

static map_slot *find_slot(const ptx_map *map, const char *name, size_t length)
{
  size_t at = hash(name, length) & (map->capacity - 1);
  for (;; at = (at + 1) & (map->capacity - 1)) {
    map_slot *slot = &map->slots[at];
    if (!slot->name || (slot->length == length &&
                        memcmp(slot->name, name, length) == 0))
      return slot;
  }
}

void *ptx_map_get(const ptx_map *map, const char *name, size_t length)
{
  return map->capacity ? find_slot(map, name, length)->value : NULL;
}

void ptx_map_put(ptx_map *map, ptx_arena *arena, const char *name,
                 size_t length, void *value)
{
  if (map->count * 2 >= map->capacity) {
    ptx_map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->slots = ptx_arena_take(arena, map->capacity * sizeof *map->slots);
    for (size_t i = 0; i < old.capacity; i++)
      if (old.slots[i].name)
        *find_slot(map, old.slots[i].name, old.slots[i].length) = old.slots[i];
  }
  *find_slot(map, name, length) = (map_slot) { name, length, value };
  map->count++;
}
