#include "config.h"

#include "core/memory/pinned.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/memory/allocator.h"
#include "core/memory/finish.h"
#include "core/memory/pages.h"

enum { PAGE = 4096 };

typedef struct pinned {
  tn_address address;
  uint64_t size, requested;
  tn_device_state *state; /* whose plugin has it */
  bool is_plain;          /* the plugin has no pinned memory: ours */
  bool is_registered;     /* ours or the program's, locked by the plugin */
  bool is_foreign;        /* the program's: never cached */
  bool is_live;           /* held by the program */
  bool is_active;         /* the same, or still used by queued copies */
  uint32_t holds;         /* copies of graphs that use it */
  tn_uses uses;
  struct pinned *next; /* of those that are on their way back */
} pinned;

/* All pieces, live and cached, sorted by address. */
static struct {
  pthread_mutex_t lock;
  pinned **items;
  size_t count, capacity;
  tn_statistics statistics;
  tn_conf conf;
  bool is_configured;
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
  count(TN_STATISTIC_requested, piece->size, requested, true);
  count(TN_STATISTIC_allocations, piece->size, 1, true);
  tn_statistics_see_active(&all.statistics);
  atomic_fetch_add_explicit(&live_count, 1, memory_order_relaxed);
}

static void set_cached(pinned *piece)
{
  piece->is_live = false;
  count(TN_STATISTIC_allocated, piece->size, piece->size, false);
  count(TN_STATISTIC_allocations, piece->size, 1, false);
  tn_statistics_pend(&all.statistics, is_small(piece->size), piece->size);
  atomic_fetch_sub_explicit(&live_count, 1, memory_order_relaxed);
}

/* Whether nobody uses a piece; counts those that have become so. */
static bool is_free(pinned *piece)
{
  if (piece->is_live || piece->holds) return false;
  if (!tn_uses_are_past(&piece->uses)) return false;
  if (!piece->is_active) return true;
  piece->is_active = false;
  tn_statistics_unpend(&all.statistics, is_small(piece->size), piece->size);
  count(TN_STATISTIC_requested, piece->size, piece->requested, false);
  return true;
}

static void count_segment(const pinned *piece, bool is_more)
{
  count(TN_STATISTIC_reserved, piece->size, piece->size, is_more);
  count(TN_STATISTIC_segments, piece->size, 1, is_more);
}

static tn_status get_plain(pinned *piece)
{
  void *memory;
  if (posix_memalign(&memory, PAGE, piece->size) != 0)
    return TN_OUT_OF_MEMORY;
  piece->address = (tn_address)(uintptr_t)memory;
  return TN_OK;
}

/* Our own memory, its pages brought in by several threads, then locked. */
static tn_status get_registered(pinned *piece, unsigned threads)
{
  tn_device_state *state = piece->state;
  tn_status status = get_plain(piece);
  if (status != TN_OK) return status;
  void *memory = (void *)(uintptr_t)piece->address;
  tn_pages_touch(memory, piece->size, PAGE, threads);
  status = state->backend->alloc.host_register(state->handle, memory,
                                               piece->size);
  if (status != TN_OK) free(memory);
  else piece->is_plain = piece->is_registered = true;
  return status;
}

static tn_status get_memory(pinned *piece, const tn_conf *conf)
{
  tn_device_state *state = piece->state;
  tn_alloc_desc desc = desc_of(piece->size);
  if (conf->pinned_is_registered && state->backend->alloc.host_register)
    return get_registered(piece, conf->pinned_register_threads);
  tn_status status = state->backend->alloc.alloc(state->handle, &desc,
                                                 &piece->address);
  if (status != TN_UNSUPPORTED) return status;
  piece->is_plain = true;
  return get_plain(piece);
}

static void free_piece(pinned *piece)
{
  tn_device_state *state = piece->state;
  void *memory = (void *)(uintptr_t)piece->address;
  tn_alloc_desc desc = desc_of(piece->size);
  if (piece->is_registered)
    state->backend->alloc.host_unregister(state->handle, memory);
  if (piece->is_foreign)
    ;
  else if (piece->is_plain)
    free(memory);
  else
    state->backend->alloc.free(state->handle, &desc, piece->address);
  tn_uses_clear(&piece->uses);
  free(piece);
}

static void free_pieces(pinned *pieces)
{
  while (pieces) {
    pinned *next = pieces->next;
    free_piece(pieces);
    pieces = next;
  }
}

static uint64_t rounded(const tn_conf *conf, uint64_t bytes)
{
  if (bytes > conf->pinned_max_round)
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
static tn_status make(tn_device_state *state, const tn_conf *conf,
                      uint64_t size, pinned **out)
{
  pinned *piece = calloc(1, sizeof *piece);
  if (!piece) return TN_OUT_OF_MEMORY;
  piece->state = state;
  piece->size = size;
  tn_status status = get_memory(piece, conf);
  if (status == TN_OUT_OF_MEMORY && tn_pinned_trim())
    status = get_memory(piece, conf);
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

/* Adds it to the pieces, live. */
static bool add_live(pinned *piece, uint64_t bytes)
{
  pthread_mutex_lock(&all.lock);
  bool added = add(piece);
  if (added) {
    count_segment(piece, true);
    set_live(piece, bytes);
  }
  pthread_mutex_unlock(&all.lock);
  return added;
}

static tn_status conf_now(tn_conf *conf)
{
  pthread_mutex_lock(&all.lock);
  bool is_known = all.is_configured;
  if (is_known) *conf = all.conf;
  pthread_mutex_unlock(&all.lock);
  if (is_known) return TN_OK;
  tn_status status = tn_conf_current(conf);
  if (status == TN_OK) tn_pinned_configure(conf);
  return status;
}

static void *allocate(tn_device_state *state, uint64_t bytes)
{
  tn_conf conf;
  if (conf_now(&conf) != TN_OK) return NULL;
  uint64_t size = rounded(&conf, bytes);
  void *memory = NULL;
  pthread_mutex_lock(&all.lock);
  bool found = take_cached(state, size, bytes, &memory);
  pthread_mutex_unlock(&all.lock);
  if (found) return memory;
  pinned *piece;
  tn_status status = make(state, &conf, size, &piece);
  if (status != TN_OK) return refuse(state, status, bytes);
  if (add_live(piece, bytes)) return (void *)(uintptr_t)piece->address;
  free_piece(piece);
  return refuse(state, TN_OUT_OF_MEMORY, bytes);
}

void tn_pinned_configure(const tn_conf *conf)
{
  pthread_mutex_lock(&all.lock);
  all.conf = *conf;
  all.is_configured = true;
  pthread_mutex_unlock(&all.lock);
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

/* Takes those out that nobody uses and that are larger than `most`. The lock
 * is held. */
static pinned *detach(uint64_t most)
{
  size_t kept = 0;
  pinned *detached = NULL;
  for (size_t i = 0; i < all.count; i++) {
    pinned *piece = all.items[i];
    if (piece->is_foreign || piece->size <= most || !is_free(piece)) {
      all.items[kept++] = piece;
      continue;
    }
    count_segment(piece, false);
    piece->next = detached;
    detached = piece;
  }
  all.count = kept;
  return detached;
}

bool tn_pinned_free(void *address)
{
  tn_address number = (tn_address)(uintptr_t)address;
  pinned *detached = NULL;
  pthread_mutex_lock(&all.lock);
  ptrdiff_t i = index_of(number);
  pinned *piece = i < 0 ? NULL : all.items[i];
  bool found = piece && piece->is_live && !piece->is_foreign &&
               piece->address == number;
  if (found) {
    set_cached(piece);
    is_free(piece);
    if (all.conf.pinned_max_cached != UINT64_MAX)
      detached = detach(all.conf.pinned_max_cached);
  }
  pthread_mutex_unlock(&all.lock);
  free_pieces(detached);
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

static tn_status note_use(const void *address, tn_stream *stream)
{
  tn_moment *moment;
  if (!tn_pinned_has(address, 0)) return TN_OK;
  tn_status status = tn_stream_moment(stream, 0, &moment);
  if (status != TN_OK || !moment) return status;
  pthread_mutex_lock(&all.lock);
  pinned *piece = find((tn_address)(uintptr_t)address, 0);
  if (piece) status = tn_uses_add(&piece->uses, stream, moment);
  pthread_mutex_unlock(&all.lock);
  if (!piece) tn_moment_release(moment);
  return status;
}

/* A use that cannot be noted is waited for: the program may give the memory
 * back once it was told. */
tn_status tn_pinned_use(const void *address, tn_stream *stream)
{
  tn_status status = note_use(address, stream);
  if (status == TN_OK) return TN_OK;
  tn_error_state before;
  tn_error_save(&before);
  tn_stream_wait_idle(stream, TN_NO_LIMIT);
  tn_error_restore(&before);
  return status;
}

bool tn_pinned_hold(tn_address address)
{
  if (atomic_load_explicit(&live_count, memory_order_relaxed) == 0)
    return false;
  pthread_mutex_lock(&all.lock);
  pinned *piece = find(address, 0);
  bool is_ours = piece && !piece->is_foreign;
  if (is_ours) piece->holds++;
  pthread_mutex_unlock(&all.lock);
  return is_ours;
}

void tn_pinned_let_go(tn_address address)
{
  pthread_mutex_lock(&all.lock);
  ptrdiff_t i = index_of(address);
  if (i >= 0) {
    all.items[i]->holds--;
    is_free(all.items[i]);
  }
  pthread_mutex_unlock(&all.lock);
}

bool tn_pinned_trim(void)
{
  pthread_mutex_lock(&all.lock);
  pinned *detached = detach(0);
  pthread_mutex_unlock(&all.lock);
  bool found = detached != NULL;
  free_pieces(detached);
  return found;
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

/* Among the devices in use: the default one, another of its backend, any. */
typedef struct search {
  tn_device wanted;
  tn_device_state *found[3];
} search;

static void look_at(tn_device_state *state, void *argument)
{
  search *s = argument;
  if (!is_accelerator(state)) return;
  bool is_wanted = tn_device_equal(state->device, s->wanted);
  bool is_sister = state->device.backend == s->wanted.backend;
  int place = is_wanted ? 0 : is_sister ? 1 : 2;
  if (!s->found[place]) s->found[place] = state;
}

/* A device in use, if possible: to pin memory opens none for its own sake.
 * Where the default device is no accelerator, it is for any that is in use. */
static tn_status find_pinner(tn_device_state **out)
{
  search s = { .wanted = tn_default_device() };
  tn_device_visit(look_at, &s);
  for (int i = 0; i < 2; i++)
    if (s.found[i]) {
      *out = s.found[i];
      return TN_OK;
    }
  tn_status status = tn_device_acquire(s.wanted, out);
  if (status != TN_OK || is_accelerator(*out)) return status;
  if (s.found[2]) *out = s.found[2];
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

static tn_status reset(void (*what)(tn_statistics *))
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  pthread_mutex_lock(&all.lock);
  what(&all.statistics);
  pthread_mutex_unlock(&all.lock);
  return TN_OK;
}

tn_status tn_reset_peak_host_memory_stats(void)
{
  return reset(tn_statistics_reset_peaks);
}

tn_status tn_reset_accumulated_host_memory_stats(void)
{
  return reset(tn_statistics_reset_totals);
}

tn_status tn_empty_host_cache(void)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  tn_pinned_trim();
  return TN_OK;
}

/* What is registered already, or part of it, cannot be so again. */
static bool overlaps(tn_address address, uint64_t bytes)
{
  ptrdiff_t i = index_of(address + (bytes - 1));
  if (i < 0) return false;
  return address < all.items[i]->address + all.items[i]->size;
}

static tn_status add_foreign(pinned *piece)
{
  tn_status status = TN_OK;
  pthread_mutex_lock(&all.lock);
  if (overlaps(piece->address, piece->size))
    status = tn_error(TN_INVALID_ARGUMENT, "memory at 0x%" PRIx64 ", %" PRIu64
                      " bytes: it is pinned already, or part of it is",
                      piece->address, piece->size);
  else if (!add(piece))
    status = tn_error(TN_OUT_OF_MEMORY, "no memory to register memory");
  if (status == TN_OK)
    atomic_fetch_add_explicit(&live_count, 1, memory_order_relaxed);
  pthread_mutex_unlock(&all.lock);
  return status;
}

static tn_status lock_foreign(tn_device_state *state, void *memory,
                              size_t bytes)
{
  tn_status status = state->backend->alloc.host_register(state->handle,
                                                         memory, bytes);
  if (status != TN_OK)
    return tn_plugin_error(state, status, "registering %zu bytes of host "
                           "memory", bytes);
  pinned *piece = calloc(1, sizeof *piece);
  status = TN_OUT_OF_MEMORY;
  if (piece) {
    *piece = (pinned){
      .address = (tn_address)(uintptr_t)memory, .size = bytes,
      .requested = bytes, .state = state, .is_registered = true,
      .is_foreign = true, .is_live = true };
    status = add_foreign(piece);
  } else {
    tn_error(status, "no memory to register memory");
  }
  if (status == TN_OK) return TN_OK;
  state->backend->alloc.host_unregister(state->handle, memory);
  free(piece);
  return status;
}

tn_status tn_host_register(void *memory, size_t bytes)
{
  tn_device_state *state;
  if (!memory || bytes == 0)
    return tn_error(TN_INVALID_ARGUMENT, "registering %zu bytes of host "
                    "memory at %p: there is nothing", bytes, memory);
  tn_status status = find_pinner(&state);
  if (status != TN_OK) return status;
  if (!state->backend->alloc.host_register ||
      !state->backend->alloc.host_unregister)
    return tn_refuse_absent(state->backend, "alloc.host_register");
  tn_memory_arm();
  status = tn_enter(state);
  if (status != TN_OK) return status;
  status = lock_foreign(state, memory, bytes);
  tn_leave();
  return status;
}

/* Locked. */
static pinned *take_foreign(tn_address address)
{
  ptrdiff_t i = index_of(address);
  pinned *piece = i < 0 ? NULL : all.items[i];
  if (!piece || !piece->is_foreign || piece->address != address) return NULL;
  all.count--;
  memmove(&all.items[i], &all.items[i + 1],
          (all.count - (size_t)i) * sizeof *all.items);
  atomic_fetch_sub_explicit(&live_count, 1, memory_order_relaxed);
  return piece;
}

tn_status tn_host_unregister(void *memory)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  pthread_mutex_lock(&all.lock);
  pinned *piece = take_foreign((tn_address)(uintptr_t)memory);
  pthread_mutex_unlock(&all.lock);
  if (!piece)
    return tn_error(TN_INVALID_ARGUMENT, "address %p is not of memory from "
                    "tn_host_register", memory);
  if (!tn_enter_to_release(piece->state)) return TN_OK;
  tn_uses_wait(&piece->uses);
  free_piece(piece);
  tn_leave();
  return TN_OK;
}
