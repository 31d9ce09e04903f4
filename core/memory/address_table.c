#include "config.h"

#include "core/memory/address_table.h"

#include <stdlib.h>

#include "core/base/error.h"

/* Linear probing; at most half full; removal moves later entries up, so there
 * are no marks of former ones. A reader that meets such a move may miss what
 * is there, and then looks again under the lock. Structs of blocks are never
 * freed, so that a pointer that is just being removed can be looked at. */
typedef struct slots {
  size_t size; /* a power of two */
  struct slots *former; /* readers may still be at it */
  _Atomic(tn_block *) at[];
} slots;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(slots *) table;
static size_t count;

void tn_address_table_lock(void) { pthread_mutex_lock(&lock); }
void tn_address_table_unlock(void) { pthread_mutex_unlock(&lock); }

static tn_address address_of(const tn_block *block)
{
  return atomic_load_explicit(&block->address, memory_order_relaxed);
}

static tn_block *get(const slots *t, size_t i)
{
  return atomic_load_explicit(&t->at[i], memory_order_acquire);
}

static void set(slots *t, size_t i, tn_block *block)
{
  atomic_store_explicit(&t->at[i], block, memory_order_release);
}

static size_t home_of(const slots *t, tn_address address)
{
  return (size_t)((address >> 9) * 0x9e3779b97f4a7c15u >> 20) &
         (t->size - 1);
}

/* Where the address is, or would be. */
static size_t place_of(const slots *t, tn_address address, tn_block **block)
{
  size_t i = home_of(t, address);
  while ((*block = get(t, i)) != NULL && address_of(*block) != address)
    i = (i + 1) & (t->size - 1);
  return i;
}

static slots *grow(slots *old)
{
  tn_block *none;
  size_t size = old ? 2 * old->size : 256;
  slots *t = calloc(1, sizeof *t + size * sizeof *t->at);
  if (!t) return NULL;
  t->size = size;
  t->former = old;
  for (size_t i = 0; old && i < old->size; i++) {
    tn_block *block = get(old, i);
    if (block) set(t, place_of(t, address_of(block), &none), block);
  }
  atomic_store_explicit(&table, t, memory_order_release);
  return t;
}

tn_status tn_address_table_add(tn_block *block)
{
  tn_block *none;
  pthread_mutex_lock(&lock);
  slots *t = atomic_load(&table);
  if (!t || 2 * count >= t->size) t = grow(t);
  if (t) {
    set(t, place_of(t, address_of(block), &none), block);
    count++;
    block->is_in_table = true;
  }
  pthread_mutex_unlock(&lock);
  if (t) return TN_OK;
  return tn_error(TN_OUT_OF_MEMORY, "no memory to remember an address");
}

/* Fills the gap with the next entry that may not stand behind one. */
static void close_gap(slots *t, size_t gap)
{
  size_t mask = t->size - 1;
  tn_block *block;
  for (size_t i = (gap + 1) & mask; (block = get(t, i)); i = (i + 1) & mask) {
    size_t home = home_of(t, address_of(block));
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    set(t, gap, block);
    gap = i;
  }
  set(t, gap, NULL);
}

void tn_address_table_remove(tn_block *block)
{
  tn_block *found;
  pthread_mutex_lock(&lock);
  slots *t = atomic_load(&table);
  size_t place = place_of(t, address_of(block), &found);
  if (found) {
    close_gap(t, place);
    count--;
  }
  block->is_in_table = false;
  pthread_mutex_unlock(&lock);
}

static tn_block *find(tn_address address)
{
  tn_block *block = NULL;
  slots *t = atomic_load_explicit(&table, memory_order_acquire);
  if (t) place_of(t, address, &block);
  return block;
}

tn_block *tn_address_table_find(tn_address address)
{
  tn_block *block = find(address);
  if (__builtin_expect(block != NULL, 1)) return block;
  pthread_mutex_lock(&lock);
  block = find(address);
  pthread_mutex_unlock(&lock);
  return block;
}
