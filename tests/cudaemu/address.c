#include "tests/cudaemu/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Addresses are used again as late as possible: a window is this many times
 * the memory. The gap between two allocations is at least one unit. */
enum { WINDOW_FACTOR = 32, UNIT = 256, POISON = 0xa5, PAGE = 4096 };

typedef struct window {
  uint64_t begin, bytes; /* addresses */
  unsigned char *alias;
  uint64_t next;         /* offset to try first */
  uint64_t used, total;  /* memory */
} window;

/* By address, live ones and freed ones whose place was not used again. */
static struct {
  pthread_mutex_t lock;
  emu_allocation **sorted;
  size_t count, room;
  unsigned numbered;
  emu_allocation *forgotten; /* queued commands may still name them */
  window windows[EMU_DEVICES_MAX];
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool emu_window_open(int device, uint64_t bytes)
{
  window *w = table.windows + device;
  if (w->begin) return true;
  w->total = bytes;
  w->bytes = bytes * WINDOW_FACTOR;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *shown = mmap(NULL, (size_t)w->bytes, PROT_NONE, flags, -1, 0);
  void *alias = mmap(NULL, (size_t)w->bytes, PROT_READ | PROT_WRITE, flags,
                     -1, 0);
  if (shown == MAP_FAILED || alias == MAP_FAILED) {
    emu_print("%" PRIu64 " bytes of addresses cannot be had", w->bytes);
    return false;
  }
  madvise(alias, (size_t)w->bytes, MADV_DONTDUMP);
  w->begin = (uint64_t)(uintptr_t)shown;
  w->alias = alias;
  w->next = UNIT;
  return true;
}

/* The first record that ends after the address. */
static size_t find(uint64_t address)
{
  size_t low = 0, high = table.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const emu_allocation *a = table.sorted[middle];
    if (a->address + a->bytes <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Puts a record in its place, and forgets the freed ones there. */
static bool insert(emu_allocation *a)
{
  size_t at = find(a->address), past = at;
  while (past < table.count &&
         table.sorted[past]->address < a->address + a->bytes)
    past++;
  if (past == at && table.count == table.room) {
    size_t room = table.room ? 2 * table.room : 256;
    void *sorted = realloc(table.sorted, room * sizeof *table.sorted);
    if (!sorted) return false;
    table.sorted = sorted;
    table.room = room;
  }
  for (size_t i = at; i < past; i++) {
    table.sorted[i]->forgotten = table.forgotten;
    table.forgotten = table.sorted[i];
  }
  memmove(table.sorted + at + 1, table.sorted + past,
          (table.count - past) * sizeof *table.sorted);
  table.sorted[at] = a;
  table.count = table.count + 1 - (past - at);
  return true;
}

static emu_allocation *new_record(uint64_t address, uint64_t bytes,
                                  int device)
{
  emu_allocation *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  *a = (emu_allocation){
    .address = address, .bytes = bytes, .device = device, .is_live = true,
    .number = ++table.numbered,
  };
  pthread_mutex_init(&a->lock, NULL);
  if (insert(a)) return a;
  free(a);
  return NULL;
}

static emu_allocation *live_between(uint64_t begin, uint64_t end)
{
  for (size_t i = find(begin);
       i < table.count && table.sorted[i]->address < end; i++)
    if (emu_is_live(table.sorted[i])) return table.sorted[i];
  return NULL;
}

/* Where in a window there is room, with a gap before and after; 0: nowhere.
 * An odd multiple of 256, for no more than that is promised. */
static uint64_t find_room(window *w, uint64_t bytes)
{
  uint64_t at = w->next | UNIT;
  for (int turns = 0; turns < 2; at = UNIT, turns++)
    while (at + bytes + UNIT <= w->bytes) {
      const emu_allocation *a =
          live_between(w->begin + at - UNIT, w->begin + at + bytes + UNIT);
      if (!a) return at;
      at = a->address + a->bytes - w->begin;
      at = ((at + 2 * UNIT - 1) / UNIT * UNIT) | UNIT;
    }
  return 0;
}

static uint64_t charge(uint64_t bytes)
{
  return (bytes + UNIT - 1) / UNIT * UNIT;
}

CUresult emu_memory_take(int device, uint64_t bytes, emu_allocation **taken)
{
  window *w = table.windows + device;
  CUresult code = TN_CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&table.lock);
  uint64_t at = 0;
  if (bytes <= w->total && charge(bytes) <= w->total - w->used)
    at = find_room(w, bytes);
  emu_allocation *a = at ? new_record(w->begin + at, bytes, device) : NULL;
  if (a) {
    a->host = w->alias + at;
    w->used += charge(bytes);
    w->next = at + charge(bytes) + UNIT + UNIT * (a->number % 3);
    *taken = a;
    code = TN_CUDA_SUCCESS;
  }
  pthread_mutex_unlock(&table.lock);
  if (!code) memset((*taken)->host, POISON, (size_t)bytes);
  return code;
}

/* Whole pages go back to the host, which costs nothing when commands still run
 * on them by mistake. */
static void give_pages(unsigned char *host, uint64_t bytes)
{
  uintptr_t begin = ((uintptr_t)host + PAGE - 1) / PAGE * PAGE;
  uintptr_t end = ((uintptr_t)host + bytes) / PAGE * PAGE;
  if (end > begin)
    madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void emu_memory_drop(emu_allocation *a)
{
  pthread_mutex_lock(&table.lock);
  __atomic_store_n(&a->is_live, false, __ATOMIC_RELEASE);
  if (a->device >= 0) {
    table.windows[a->device].used -= charge(a->bytes);
    give_pages(a->host, a->bytes);
  }
  pthread_mutex_unlock(&table.lock);
  pthread_mutex_lock(&a->lock);
  order_shadow_free(a->shadow);
  a->shadow = NULL;
  pthread_mutex_unlock(&a->lock);
}

void emu_memory_drop_all(int device)
{
  for (size_t i = 0; i < table.count; i++)
    if (table.sorted[i]->device == device && emu_is_live(table.sorted[i]))
      emu_memory_drop(table.sorted[i]);
}

uint64_t emu_memory_used(int device)
{
  pthread_mutex_lock(&table.lock);
  uint64_t used = table.windows[device].used;
  pthread_mutex_unlock(&table.lock);
  return used;
}

emu_allocation *emu_pinned_add(void *memory, uint64_t bytes,
                               bool is_registered)
{
  pthread_mutex_lock(&table.lock);
  emu_allocation *a = new_record((uint64_t)(uintptr_t)memory, bytes, -1);
  if (a) {
    a->host = memory;
    a->is_registered = is_registered;
  }
  pthread_mutex_unlock(&table.lock);
  return a;
}

emu_allocation *emu_memory_at(uint64_t address)
{
  emu_allocation *found = NULL;
  pthread_mutex_lock(&table.lock);
  size_t at = find(address);
  if (at < table.count && table.sorted[at]->address <= address)
    found = table.sorted[at];
  pthread_mutex_unlock(&table.lock);
  return found;
}

emu_allocation *emu_memory_overlap(uint64_t address, uint64_t bytes)
{
  pthread_mutex_lock(&table.lock);
  emu_allocation *found = live_between(address, address + bytes);
  pthread_mutex_unlock(&table.lock);
  return found;
}

bool emu_is_in_window(uint64_t address)
{
  for (int i = 0; i < EMU_DEVICES_MAX; i++) {
    const window *w = table.windows + i;
    if (w->begin && address - w->begin < w->bytes) return true;
  }
  return false;
}

/* Where an address is that no live allocation covers. */
static void describe(uint64_t address, char *text, size_t size)
{
  pthread_mutex_lock(&table.lock);
  size_t at = find(address);
  const emu_allocation *a = at < table.count ? table.sorted[at] : NULL;
  const emu_allocation *before = at ? table.sorted[at - 1] : NULL;
  if (a && a->address <= address)
    snprintf(text, size, "byte %" PRIu64 " of allocation %u (%" PRIu64
             " bytes), which was freed", address - a->address, a->number,
             a->bytes);
  else if (before && address - before->address - before->bytes < UNIT)
    snprintf(text, size, "byte %" PRIu64 " of allocation %u, of %" PRIu64
             " bytes%s", address - before->address, before->number,
             before->bytes, emu_is_live(before) ? "" : " and freed");
  else
    snprintf(text, size, "%s", emu_is_in_window(address)
                                   ? "no allocation"
                                   : "memory of the host that is not pinned");
  pthread_mutex_unlock(&table.lock);
}

bool emu_memory_problem(uint64_t address, uint64_t bytes, char *text,
                        size_t size)
{
  const emu_allocation *a = emu_memory_at(address);
  if (!a || !emu_is_live(a)) {
    describe(address, text, size);
    return true;
  }
  if (bytes <= a->address + a->bytes - address) return false;
  snprintf(text, size, "bytes %" PRIu64 " to %" PRIu64 " of allocation %u, "
           "of %" PRIu64 " bytes", address - a->address,
           address - a->address + bytes - 1, a->number, a->bytes);
  return true;
}
