/* Memory that is freed all at once, and tables in it. */
#ifndef TN_TESTS_CUDAEMU_ARENA_H
#define TN_TESTS_CUDAEMU_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_arena {
  struct ptx_arena_block *blocks;
  jmp_buf *exhausted; /* where to go when there is no memory */
} ptx_arena;

/* Zeroed memory, aligned to 16. */
void *ptx_arena_take(ptx_arena *arena, size_t size);
char *ptx_arena_text(ptx_arena *arena, const char *text, size_t length);
void ptx_arena_free(ptx_arena *arena);

/* Makes room for one more element in an array of count; returns the array,
 * perhaps moved. */
void *ptx_arena_grow(ptx_arena *arena, void *array, size_t count,
                     size_t *capacity, size_t element_size);

/* Names to pointers. */
typedef struct ptx_map {
  struct ptx_map_slot *slots;
  size_t capacity, count;
} ptx_map;

void *ptx_map_get(const ptx_map *map, const char *name, size_t length);
/* The name must live as long as the map; it must not be there yet. */
void ptx_map_put(ptx_map *map, ptx_arena *arena, const char *name,
                 size_t length, void *value);

#endif
