/* When there is no memory: who is told, and what is said. Nothing here
 * allocates, and nothing need have been switched on before. */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory/oom.h"
#include "core/memory/pool.h"

enum { HOLDERS_NAMED = 5, OBSERVERS_MAX = 16 };

typedef struct observer {
  tn_oom_observer function; /* NULL: the place is free */
  void *argument;
} observer;

static pthread_mutex_t observers_lock = PTHREAD_MUTEX_INITIALIZER;
static observer observers[OBSERVERS_MAX];

void tn_oom_lock(void) { pthread_mutex_lock(&observers_lock); }
void tn_oom_unlock(void) { pthread_mutex_unlock(&observers_lock); }

static bool put(observer before, observer after)
{
  bool found = false;
  pthread_mutex_lock(&observers_lock);
  for (int i = 0; i < OBSERVERS_MAX && !found; i++) {
    found = observers[i].function == before.function &&
            observers[i].argument == before.argument;
    if (found) observers[i] = after;
  }
  pthread_mutex_unlock(&observers_lock);
  return found;
}

tn_status tn_memory_observe_oom(tn_oom_observer function, void *argument)
{
  if (!function) return tn_error(TN_INVALID_ARGUMENT, "observer is NULL");
  if (put((observer){ NULL, NULL }, (observer){ function, argument }))
    return TN_OK;
  return tn_error(TN_UNSUPPORTED, "there are %d observers of memory already, "
                  "which is the most", OBSERVERS_MAX);
}

tn_status tn_memory_ignore_oom(tn_oom_observer function, void *argument)
{
  if (function && put((observer){ function, argument },
                      (observer){ NULL, NULL }))
    return TN_OK;
  return tn_error(TN_INVALID_ARGUMENT, "there is no such observer of memory");
}

static void tell(tn_device device, uint64_t requested, uint64_t total,
                 uint64_t unused)
{
  observer all[OBSERVERS_MAX];
  pthread_mutex_lock(&observers_lock);
  memcpy(all, observers, sizeof all);
  pthread_mutex_unlock(&observers_lock);
  for (int i = 0; i < OBSERVERS_MAX; i++)
    if (all[i].function)
      all[i].function(device, (size_t)requested, (size_t)total,
                      (size_t)unused, all[i].argument);
}

/* What the error is made of. */
typedef struct figures {
  uint64_t capacity, unused, limit, reserved, allocated, pending;
  uint64_t cached, pieces, largest; /* free blocks */
  uint64_t pooled; /* reserved by pools */
  double fraction;
  bool knows_unused;
  tn_holdings holdings;
} figures;

static void add_block(figures *f, const tn_block *block)
{
  if (block->state == TN_BLOCK_LIVE) {
    tn_holdings_add(&f->holdings, block->holder, block->size);
  } else if (block->state != TN_BLOCK_PENDING) {
    f->cached += block->size;
    f->pieces++;
    if (block->size > f->largest) f->largest = block->size;
  }
}

/* Locked. */
static void look(tn_allocator *allocator, figures *f)
{
  const tn_statistics *statistics = &allocator->statistics;
  tn_allocator_settle(allocator);
  f->limit = allocator->limit;
  f->fraction = allocator->fraction;
  f->reserved = tn_statistics_current(statistics, TN_STATISTIC_reserved);
  f->allocated = tn_statistics_current(statistics, TN_STATISTIC_allocated);
  f->pending = tn_statistics_current(statistics, TN_STATISTIC_pending);
  for (tn_segment *s = allocator->segments; s; s = s->next) {
    if (s->cache->pool) f->pooled += s->size;
    for (tn_block *b = s->first; b; b = b->after) add_block(f, b);
  }
}

typedef struct writer {
  char *text;
  size_t size, used;
} writer;

static void add(writer *w, const char *format, ...) TN_PRINTF(2, 3);
static void add(writer *w, const char *format, ...)
{
  va_list arguments;
  if (w->used >= w->size) return;
  va_start(arguments, format);
  int length = vsnprintf(w->text + w->used, w->size - w->used, format,
                         arguments);
  va_end(arguments);
  if (length > 0) w->used += (size_t)length;
}

static void add_holders(writer *w, tn_holdings *holdings)
{
  tn_holdings_sort(holdings);
  for (int i = 0; i < holdings->count && i < HOLDERS_NAMED; i++) {
    char name[TN_HOLDER_TEXT_SIZE];
    const tn_holding *one = &holdings->items[i];
    tn_holder_format(one->holder, name, sizeof name);
    add(w, "%s%" PRIu64 " in %" PRIu64 " block%s by %s",
        i ? ", " : "; largest holders: ", one->bytes, one->blocks,
        one->blocks == 1 ? "" : "s", name);
  }
}

static void describe(writer *w, figures *f)
{
  add(w, "capacity %" PRIu64 ", ", f->capacity);
  if (f->limit != UINT64_MAX)
    add(w, "of which %" PRIu64 " may be used (fraction %g), ", f->limit,
        f->fraction);
  if (f->knows_unused) add(w, "free %" PRIu64 ", ", f->unused);
  add(w, "reserved %" PRIu64 ", of which allocated %" PRIu64, f->reserved,
      f->allocated);
  if (f->pending) add(w, ", waiting for streams %" PRIu64, f->pending);
  if (f->pooled) add(w, ", in memory pools %" PRIu64, f->pooled);
  if (f->cached)
    add(w, ", fragmented: %" PRIu64 " cached in %" PRIu64 " piece%s, the "
        "largest %" PRIu64, f->cached, f->pieces, f->pieces == 1 ? "" : "s",
        f->largest);
  add_holders(w, &f->holdings);
}

static void ask_device(tn_device_state *state, figures *f)
{
  f->capacity = state->info.memory_total;
  f->knows_unused =
      state->backend->alloc.mem_info &&
      state->backend->alloc.mem_info(state->handle, &f->unused,
                                     &f->capacity) == TN_OK;
  if (!f->knows_unused) f->unused = 0;
}

/* Locked. */
static void count(const tn_request *request, uint64_t unused)
{
  tn_allocator *allocator = request->allocator;
  const tn_stream_cache *cache = request->cache;
  allocator->statistics.ooms++;
  if (!allocator->trace) return;
  tn_trace_record(allocator->trace, (tn_trace_event){
    .action = TN_TRACE_OOM, .address = unused, .size = request->requested,
    .stream = cache->stream_id,
    .pool = { cache->pool ? cache->pool->id[0] : 0,
              cache->pool ? cache->pool->id[1] : 0 },
    .holder = { tn_memory_tag_mine, request->caller } });
}

void tn_request_refuse(const tn_request *request)
{
  tn_allocator *allocator = request->allocator;
  tn_device_state *state = allocator->state;
  figures f = { 0 };
  ask_device(state, &f);
  tn_brief_lock_take(&allocator->lock);
  look(allocator, &f);
  if (!f.knows_unused && f.capacity > f.reserved)
    f.unused = f.capacity - f.reserved;
  count(request, f.unused);
  tn_brief_lock_give(&allocator->lock);
  tell(state->device, request->requested, f.capacity, f.unused);
  char device[TN_DEVICE_TEXT_SIZE], text[TN_ERROR_TEXT_SIZE];
  tn_device_format(state->device, device, sizeof device);
  writer w = { text, sizeof text, 0 };
  describe(&w, &f);
  tn_error(TN_OUT_OF_MEMORY, "%s: no memory for %" PRIu64 " bytes: %s",
           device, request->requested, text);
}
