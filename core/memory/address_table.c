#include "config.h"

#include "core/memory/address_table.h"

#include <stdlib.h>

#include "core/base/error.h"

/* Linear probing; at most half full; removal moves later entries up, so there
 * are no marks of former ones. */
static struct {
  pthread_mutex_t lock;
  tn_block **slots;
  size_t size, count; /* a power of two, or 0 */
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

void tn_address_table_lock(void) { pthread_mutex_lock(&table.lock); }
void tn_address_table_unlock(void) { pthread_mutex_unlock(&table.lock); }

static size_t home_of(tn_address address)
{
  return (size_t)((address >> 9) * 0x9e3779b97f4a7c15u >> 20) &
         (table.size - 1);
}

/* Where the address is, or would be. */
static size_t place_of(tn_address address)
{
  size_t i = home_of(address);
  while (table.slots[i] && table.slots[i]->address != address)
    i = (i + 1) & (table.size - 1);
  return i;
}

static bool grow(void)
{
  size_t old_size = table.size;
  tn_block **old = table.slots;
  size_t size = old_size ? 2 * old_size : 256;
  tn_block **slots = calloc(size, sizeof *slots);
  if (!slots) return false;
  table.slots = slots;
  table.size = size;
  for (size_t i = 0; i < old_size; i++)
    if (old[i]) slots[place_of(old[i]->address)] = old[i];
  free(old);
  return true;
}

tn_status tn_address_table_add(tn_block *block)
{
  pthread_mutex_lock(&table.lock);
  bool has_room = 2 * table.count < table.size || grow();
  if (has_room) {
    table.slots[place_of(block->address)] = block;
    table.count++;
  }
  pthread_mutex_unlock(&table.lock);
  if (has_room) return TN_OK;
  return tn_error(TN_OUT_OF_MEMORY, "no memory to remember an address");
}

/* Fills the gap with the next entry that may not stand behind one. */
static void close_gap(size_t gap)
{
  size_t mask = table.size - 1;
  for (size_t i = (gap + 1) & mask; table.slots[i]; i = (i + 1) & mask) {
    size_t home = home_of(table.slots[i]->address);
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    table.slots[gap] = table.slots[i];
    gap = i;
  }
  table.slots[gap] = NULL;
}

tn_block *tn_address_table_take(tn_address address)
{
  tn_block *block = NULL;
  pthread_mutex_lock(&table.lock);
  if (table.count != 0) {
    size_t place = place_of(address);
    block = table.slots[place];
    if (block) {
      close_gap(place);
      table.count--;
    }
  }
  pthread_mutex_unlock(&table.lock);
  return block;
}

tn_block *tn_address_table_find(tn_address address)
{
  pthread_mutex_lock(&table.lock);
  tn_block *block = table.count ? table.slots[place_of(address)] : NULL;
  pthread_mutex_unlock(&table.lock);
  return block;
}
