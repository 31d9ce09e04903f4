#include "layers/race_memory.h"

#include <stdlib.h>
#include <string.h>

/* Sorted by address; there are as many as the allocator has segments. */
static race_allocation **all;
static size_t count, room;

/* The first that ends after the address. */
static size_t position(tn_address address)
{
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const race_allocation *a = all[middle];
    if (a->address + a->bytes <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void drop(size_t at)
{
  order_shadow_free(all[at]->shadow);
  free(all[at]);
  memmove(all + at, all + at + 1, (--count - at) * sizeof *all);
}

static bool make_room(void)
{
  if (count < room) return true;
  size_t more = room ? 2 * room : 64;
  race_allocation **grown = realloc(all, more * sizeof *all);
  if (!grown) return false;
  all = grown;
  room = more;
  return true;
}

bool race_memory_add(tn_address address, uint64_t bytes, bool is_pinned,
                     uint32_t tag)
{
  size_t at = position(address);
  while (at < count && all[at]->address < address + bytes) drop(at);
  race_allocation *a = calloc(1, sizeof *a);
  order_shadow *shadow = order_shadow_make(bytes);
  if (!a || !shadow || !make_room()) {
    free(a);
    order_shadow_free(shadow);
    return false;
  }
  *a = (race_allocation){ address, bytes, false, is_pinned, tag, 0, shadow };
  memmove(all + at + 1, all + at, (count++ - at) * sizeof *all);
  all[at] = a;
  return true;
}

void race_memory_free(tn_address address, uint32_t tag)
{
  race_allocation *a = race_memory_find(address);
  if (!a || a->address != address) return;
  a->is_freed = true;
  a->freed = tag;
  order_shadow_free(a->shadow);
  a->shadow = NULL;
}

uint64_t race_memory_drop(tn_address address)
{
  size_t at = position(address);
  if (at == count || all[at]->address != address) return 0;
  uint64_t bytes = all[at]->bytes;
  drop(at);
  return bytes;
}

race_allocation *race_memory_find(tn_address address)
{
  size_t at = position(address);
  return at < count && all[at]->address <= address ? all[at] : NULL;
}
