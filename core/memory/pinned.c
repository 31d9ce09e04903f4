#include "config.h"

#include "core/memory/pinned.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/memory/allocator.h"
#include "core/memory/finish.h"

typedef struct pinned {
  tn_address address;
  uint64_t size, requested;
  tn_device_state *state; /* whose plugin has it */
  bool is_plain;          /* the plugin has no pinned memory: ours */
  bool is_live;           /* held by the program */
  bool is_active;         /* the same, or still used by queued copies */
  tn_uses uses;
} pinned;

/* All pieces, live and cached, sorted by address. */
static struct {
  pthread_mutex_t lock;
  pinned **items;
  size_t count, capacity;
  tn_statistics statistics;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* For those who ask about memory that is hardly ever pinned. */
static atomic_size_t live_count;

void tn_pinned_lock(void) { pthread_mutex_lock(&all.lock); }
void tn_pinned_unlock(void) { pthread_mutex_unlock(&all.lock); }

static tn_alloc_desc desc_of(uint64_t bytes)
{
  return (tn_alloc_desc){
    .struct_size = sizeof(tn_alloc_desc),
    .kind = TN_MEMORY_PINNED,
    .bytes = bytes,
  };
}

/* The piece that begins last at or before `address`; its index, or -1. */
static ptrdiff_t index_of(tn_address address)
{
  size_t low = 0, high = all.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (all.items[middle]->address <= address) low = middle + 1;
    else high = middle;
  }
  return (ptrdiff_t)low - 1;
}

static pinned *find(tn_address address, uint64_t bytes)
{
  ptrdiff_t i = index_of(address);
  if (i < 0) return NULL;
  pinned *piece = all.items[i];
  uint64_t offset = address - piece->address;
  bool is_inside = offset < piece->requested &&
                   bytes <= piece->requested - offset;
  return piece->is_live && is_inside ? piece : NULL;
}

static bool add(pinned *piece)
{
  if (all.count == all.capacity) {
    size_t capacity = all.capacity ? 2 * all.capacity : 16;
    pinned **larger = realloc(all.items, capacity * sizeof *larger);
    if (!larger) return false;
    all.items = larger;
    all.capacity = capacity;
  }
  size_t place = (size_t)(index_of(piece->address) + 1);
  memmove(&all.items[place + 1], &all.items[place],
          (all.count - place) * sizeof *all.items);
  all.items[place] = piece;
  all.count++;
  return true;
}

static bool is_small(uint64_t size) { return size <= TN_SMALL_REQUEST; }

static void count(tn_statistic which, uint64_t size, uint64_t amount,
                  bool is_more)
{
  (is_more ? tn_statistics_add : tn_statistics_subtract)(
      &all.statistics, which, is_small(size), amount);
}

static void set_live(pinned *piece, uint64_t requested)
{
  piece->is_live = piece->is_active = true;
  piece->requested = requested;
  count(TN_STATISTIC_allocated, piece->size, piece->size, true);
  count(TN_STATISTIC_active, piece->size, piece->size, true);
  count(TN_STATISTIC_requested, piece->size, requested, true);
  count(TN_STATISTIC_allocations, piece->size, 1, true);
  atomic_fetch_add_explicit(&live_count, 1, memory_order_relaxed);
}

static void set_cached(pinned *piece)
{
  piece->is_live = false;
  count(TN_STATISTIC_allocated, piece->size, piece->size, false);
  count(TN_STATISTIC_allocations, piece->size, 1, false);
  atomic_fetch_sub_explicit(&live_count, 1, memory_order_relaxed);
}

/* Whether nobody uses a piece; counts those that have become so. */
static bool is_free(pinned *piece)
{
  if (piece->is_live || !tn_uses_are_past(&piece->uses)) return false;
  if (!piece->is_active) return true;
  piece->is_active = false;
  count(TN_STATISTIC_active, piece->size, piece->size, false);
  count(TN_STATISTIC_requested, piece->size, piece->requested, false);
  return true;
}

static void count_segment(const pinned *piece, bool is_more)
{
  count(TN_STATISTIC_reserved, piece->size, piece->size, is_more);
  count(TN_STATISTIC_segments, piece->size, 1, is_more);
}

static tn_status get_memory(pinned *piece)
{
  tn_device_state *state = piece->state;
  tn_alloc_desc desc = desc_of(piece->size);
  tn_status status = state->backend->alloc.alloc(state->handle, &desc,
                                                 &piece->address);
  if (status != TN_UNSUPPORTED) return status;
  void *memory;
  if (posix_memalign(&memory, 4096, piece->size) != 0)
    return TN_OUT_OF_MEMORY;
  piece->is_plain = true;
  piece->address = (tn_address)(uintptr_t)memory;
  return TN_OK;
}

static void free_piece(pinned *piece)
{
  tn_device_state *state = piece->state;
  tn_alloc_desc desc = desc_of(piece->size);
  if (piece->is_plain) free((void *)(uintptr_t)piece->address);
  else state->backend->alloc.free(state->handle, &desc, piece->address);
  tn_uses_clear(&piece->uses);
  free(piece);
}

static uint64_t rounded(uint64_t bytes)
{
  if (bytes > TN_PINNED_POWERS)
    return (bytes + (TN_SEGMENT_STEP - 1)) & ~(TN_SEGMENT_STEP - 1);
  uint64_t size = TN_BLOCK_UNIT;
  while (size < bytes) size *= 2;
  return size;
}

/* A cached piece that wastes at most a fifth of itself. */
static bool take_cached(const tn_device_state *state, uint64_t size,
                        uint64_t bytes, void **memory)
{
  pinned *best = NULL;
  for (size_t i = 0; i < all.count; i++) {
    pinned *piece = all.items[i];
    if (piece->state->backend != state->backend) continue;
    if (piece->size < size || piece->size - size > size / 4) continue;
    if (best && best->size <= piece->size) continue;
    if (is_free(piece)) best = piece;
  }
  if (!best) return false;
  set_live(best, bytes);
  *memory = (void *)(uintptr_t)best->address;
  return true;
}

/* Not locked. */
static tn_status make(tn_device_state *state, uint64_t size, pinned **out)
{
  pinned *piece = calloc(1, sizeof *piece);
  if (!piece) return TN_OUT_OF_MEMORY;
  piece->state = state;
  piece->size = size;
  tn_status status = get_memory(piece);
  if (status == TN_OUT_OF_MEMORY && tn_pinned_trim())
    status = get_memory(piece);
  if (status != TN_OK) {
    free(piece);
    return status;
  }
  *out = piece;
  return TN_OK;
}

static void *refuse(tn_device_state *state, tn_status status, uint64_t bytes)
{
  if (status != TN_OUT_OF_MEMORY) {
    tn_plugin_error(state, status, "pinned memory of %" PRIu64 " bytes",
                    bytes);
    return NULL;
  }
  pthread_mutex_lock(&all.lock);
  all.statistics.ooms++;
  uint64_t reserved = tn_statistics_current(&all.statistics,
                                            TN_STATISTIC_reserved);
  uint64_t allocated = tn_statistics_current(&all.statistics,
                                             TN_STATISTIC_allocated);
  pthread_mutex_unlock(&all.lock);
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(state->device, device, sizeof device);
  tn_error(status, "no pinned memory for %" PRIu64 " bytes (of %s): reserved "
           "%" PRIu64 ", of which allocated %" PRIu64, bytes, device,
           reserved, allocated);
  return NULL;
}

static void *allocate(tn_device_state *state, uint64_t bytes)
{
  uint64_t size = rounded(bytes);
  void *memory = NULL;
  pthread_mutex_lock(&all.lock);
  bool found = take_cached(state, size, bytes, &memory);
  pthread_mutex_unlock(&all.lock);
  if (found) return memory;
  pinned *piece;
  tn_status status = make(state, size, &piece);
  if (status != TN_OK) return refuse(state, status, bytes);
  pthread_mutex_lock(&all.lock);
  bool added = add(piece);
  if (added) {
    count_segment(piece, true);
    set_live(piece, bytes);
  }
  pthread_mutex_unlock(&all.lock);
  if (added) return (void *)(uintptr_t)piece->address;
  free_piece(piece);
  return refuse(state, TN_OUT_OF_MEMORY, bytes);
}

void *tn_pinned_alloc(tn_device_state *state, uint64_t bytes)
{
  if (bytes > TN_LARGEST_REQUEST) {
    tn_error(TN_SIZE_OVERFLOW, "pinned memory of %" PRIu64 " bytes: at most "
             "%" PRIu64 " (1 EiB) can be asked for", bytes,
             TN_LARGEST_REQUEST);
    return NULL;
  }
  tn_memory_arm();
  tn_error_state before;
  tn_error_save(&before);
  void *memory = allocate(state, bytes);
  if (memory) tn_error_restore(&before);
  return memory;
}

bool tn_pinned_free(void *address)
{
  tn_address number = (tn_address)(uintptr_t)address;
  pthread_mutex_lock(&all.lock);
  ptrdiff_t i = index_of(number);
  pinned *piece = i < 0 ? NULL : all.items[i];
  bool found = piece && piece->is_live && piece->address == number;
  if (found) {
    set_cached(piece);
    is_free(piece);
  }
  pthread_mutex_unlock(&all.lock);
  return found;
}

bool tn_pinned_has(const void *address, uint64_t bytes)
{
  if (atomic_load_explicit(&live_count, memory_order_relaxed) == 0)
    return false;
  pthread_mutex_lock(&all.lock);
  bool found = find((tn_address)(uintptr_t)address, bytes) != NULL;
  pthread_mutex_unlock(&all.lock);
  return found;
}

tn_status tn_pinned_use(const void *address, tn_stream *stream)
{
  tn_moment *moment;
  tn_status status = tn_stream_moment(stream, 0, &moment);
  if (status != TN_OK || !moment) return status;
  pthread_mutex_lock(&all.lock);
  pinned *piece = find((tn_address)(uintptr_t)address, 0);
  if (piece) status = tn_uses_add(&piece->uses, stream, moment);
  pthread_mutex_unlock(&all.lock);
  if (!piece) tn_moment_release(moment);
  return status;
}

/* The lock is held. Takes cached pieces without users out; their number. */
static size_t detach(pinned ***detached)
{
  size_t kept = 0, taken = 0;
  pinned **out = malloc(all.count * sizeof *out + 1);
  if (!out) return 0;
  for (size_t i = 0; i < all.count; i++) {
    pinned *piece = all.items[i];
    if (is_free(piece)) {
      count_segment(piece, false);
      out[taken++] = piece;
    } else {
      all.items[kept++] = piece;
    }
  }
  all.count = kept;
  *detached = out;
  return taken;
}

bool tn_pinned_trim(void)
{
  pinned **detached = NULL;
  pthread_mutex_lock(&all.lock);
  size_t taken = detach(&detached);
  pthread_mutex_unlock(&all.lock);
  for (size_t i = 0; i < taken; i++) free_piece(detached[i]);
  free(detached);
  return taken != 0;
}

void tn_pinned_destroy(void)
{
  pthread_mutex_lock(&all.lock);
  for (size_t i = 0; i < all.count; i++) free_piece(all.items[i]);
  free(all.items);
  all.items = NULL;
  all.count = all.capacity = 0;
  atomic_store(&live_count, 0);
  pthread_mutex_unlock(&all.lock);
}

static bool is_accelerator(const tn_device_state *state)
{
  return !(state->info.capabilities & TN_CAP_HOST_CORES) &&
         !atomic_load(&state->lost);
}

static void find_accelerator(tn_device_state *state, void *found)
{
  tn_device_state **accelerator = found;
  if (!*accelerator && is_accelerator(state)) *accelerator = state;
}

/* The default device, if that is an accelerator or none is open. */
static tn_status find_pinner(tn_device_state **out)
{
  tn_device_state *accelerator = NULL;
  tn_status status = tn_device_acquire(tn_default_device(), out);
  if (status != TN_OK || is_accelerator(*out)) return status;
  tn_device_visit(find_accelerator, &accelerator);
  if (accelerator) *out = accelerator;
  return TN_OK;
}

void *tn_malloc_pinned(size_t bytes)
{
  tn_device_state *state;
  if (find_pinner(&state) != TN_OK) return NULL;
  if (bytes == 0 || tn_enter(state) != TN_OK) return NULL;
  void *memory = tn_pinned_alloc(state, bytes);
  tn_leave();
  return memory;
}

bool tn_memory_is_pinned(const void *address)
{
  return tn_pinned_has(address, 1);
}

tn_status tn_host_memory_get_stats(tn_memory_stats *out)
{
  if (!out) return tn_error(TN_INVALID_ARGUMENT, "out is NULL");
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  pthread_mutex_lock(&all.lock);
  for (size_t i = 0; i < all.count; i++) is_free(all.items[i]);
  tn_statistics_read(&all.statistics, out);
  pthread_mutex_unlock(&all.lock);
  return TN_OK;
}
