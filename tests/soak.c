/* make soak: random allocation, freeing, recorded streams and copies, from
 * eight threads on two backends, for TN_SOAK_SECONDS (600). Every byte that
 * lives is checked, and memory stays flat (rules M1, M2, A116, A130). The seed
 * is TN_SOAK_SEED, or else from the clock. */
#include "config.h"

#include <tenon/tenon.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"

enum {
  THREADS = 8, HELD = 24, DEVICES = 2, REPORTS = 10, SIZE_BITS = 22,
  WARM = 60 /* seconds until caches have grown */
};

static const tn_device host;
static tn_device devices[DEVICES];
static atomic_bool is_over;
static atomic_ulong steps, bytes_checked, wrong, failures;

/* A block whose bytes are a pattern of its own. */
typedef struct held {
  tn_block *block;
  tn_stream *home, *last; /* what it is ordered on; who wrote it last */
  size_t size;
  uint64_t pattern;
} held;

typedef struct worker {
  uint64_t random;
  tn_device device;
  tn_stream *streams[3];
  held all[HELD];
  tn_mem_pool *pool;
} worker;

/* xorshift64* */
static uint64_t draw(uint64_t *state, uint64_t below)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (*state * 2685821657736338717u >> 16) % below;
}

static bool good(tn_status status)
{
  if (status == TN_OK) return true;
  if (atomic_fetch_add(&failures, 1) < 5) tap_note("%s", tn_error_message());
  return false;
}

static void fill(unsigned char *bytes, size_t size, uint64_t pattern)
{
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)(pattern + i * 131 + (i >> 11));
}

static bool is_filled(const unsigned char *bytes, size_t size,
                      uint64_t pattern)
{
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != (unsigned char)(pattern + i * 131 + (i >> 11)))
      return false;
  return true;
}

/* From pinned memory that is freed at once, or waited for and our own. */
static bool put(held *h, tn_device device, bool is_pinned)
{
  unsigned char *memory = is_pinned ? tn_malloc_pinned(h->size)
                                    : malloc(h->size);
  if (!memory) return good(TN_OUT_OF_MEMORY);
  fill(memory, h->size, h->pattern);
  bool is_good = true;
  tn_with_stream(h->last)
    is_good = good(tn_copy(tn_block_address(h->block), device, memory, host,
                           h->size, is_pinned));
  if (is_pinned) tn_free(memory);
  else free(memory);
  return is_good;
}

static void look(held *h, tn_device device)
{
  unsigned char *memory = malloc(h->size);
  bool is_good = memory != NULL;
  if (is_good)
    tn_with_stream(h->last)
      is_good = good(tn_copy(memory, host, tn_block_address(h->block), device,
                             h->size, false));
  if (is_good && !is_filled(memory, h->size, h->pattern))
    atomic_fetch_add(&wrong, 1);
  atomic_fetch_add(&bytes_checked, h->size);
  free(memory);
}

static void fill_place(worker *w, held *h)
{
  tn_stream *stream = w->streams[draw(&w->random, 3)];
  h->size = 1 + draw(&w->random,
                     (uint64_t)1 << draw(&w->random, SIZE_BITS));
  h->pattern = draw(&w->random, 1 << 20);
  h->home = h->last = stream;
  bool is_pooled = draw(&w->random, 4) == 0;
  tn_with_stream(stream) {
    if (is_pooled) tn_with_pool(w->pool)
      h->block = tn_block_new(w->device, h->size);
    else h->block = tn_block_new(w->device, h->size);
  }
  if (h->block) put(h, w->device, draw(&w->random, 2));
  else good(TN_OUT_OF_MEMORY);
}

/* Onto another stream, which is recorded, with other bytes. */
static void move(worker *w, held *h)
{
  tn_stream *other = w->streams[draw(&w->random, 3)];
  good(tn_stream_wait_stream(other, h->last));
  h->last = other;
  h->pattern++;
  put(h, w->device, true);
  if (other != h->home) good(tn_block_record_stream(h->block, other));
}

/* Copies one to another of the same size, freeing the source at once. */
static void copy_and_free(worker *w, held *from)
{
  held to = *from;
  to.last = to.home = from->last;
  tn_with_stream(from->last) {
    to.block = tn_block_new(w->device, from->size);
    if (to.block)
      good(tn_copy(tn_block_address(to.block), w->device,
                   tn_block_address(from->block), w->device, from->size,
                   true));
  }
  if (!to.block) {
    good(TN_OUT_OF_MEMORY);
    return;
  }
  if (from->last != from->home)
    good(tn_block_record_stream(from->block, from->last));
  tn_block_release(from->block);
  *from = to;
}

static void step(worker *w)
{
  held *h = &w->all[draw(&w->random, HELD)];
  uint64_t what = draw(&w->random, 100);
  if (!h->block) {
    fill_place(w, h);
  } else if (what < 25) {
    look(h, w->device);
  } else if (what < 45) {
    move(w, h);
  } else if (what < 65) {
    copy_and_free(w, h);
  } else {
    if (what < 80) look(h, w->device);
    tn_block_release(h->block);
    h->block = NULL;
  }
  if (what == 99 && draw(&w->random, 20) == 0)
    good(tn_empty_cache(w->device));
  atomic_fetch_add(&steps, 1);
}

static void *work(void *argument)
{
  worker *w = argument;
  for (int i = 0; i < 3; i++)
    w->streams[i] = i ? tn_stream_new(w->device, 0)
                      : tn_stream_retain(tn_default_stream(w->device));
  w->pool = tn_mem_pool_new(w->device);
  while (!atomic_load(&is_over)) step(w);
  for (int i = 0; i < HELD; i++) {
    if (w->all[i].block) look(&w->all[i], w->device);
    tn_block_release(w->all[i].block);
  }
  for (int i = 0; i < 3; i++) {
    good(tn_stream_synchronize(w->streams[i]));
    tn_stream_release(w->streams[i]);
  }
  tn_mem_pool_release(w->pool);
  return NULL;
}

static size_t resident(void)
{
  unsigned long pages = 0, unused;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu %lu", &unused, &pages) != 2) pages = 0;
  if (file) fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static double seconds_from(const char *name, double otherwise)
{
  const char *text = getenv(name);
  return text ? strtod(text, NULL) : otherwise;
}

/* Time is what this program is asked to spend: nothing is signalled. */
static void spend(double seconds)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  double whole = (double)end.tv_nsec * 1e-9 + seconds;
  end.tv_sec += (time_t)whole;
  end.tv_nsec = (long)((whole - (double)(time_t)whole) * 1e9);
  pthread_mutex_lock(&lock);
  while (pthread_cond_timedwait(&never, &lock, &end) == 0) continue;
  pthread_mutex_unlock(&lock);
}

/* The most that was resident in each tenth of the time. */
static void watch(double seconds, size_t most[REPORTS])
{
  for (int i = 0; i < REPORTS; i++) {
    for (int k = 0; k < 10; k++) {
      spend(seconds / REPORTS / 10);
      size_t now = resident();
      if (now > most[i]) most[i] = now;
    }
    tap_note("%3d%%: %lu steps, %lu MB checked, %zu MB resident",
             100 * (i + 1) / REPORTS, atomic_load(&steps),
             atomic_load(&bytes_checked) / 1000000, most[i] / 1000000);
  }
}

static void find_devices(void)
{
  static const char *const others[] = { "opencl:0", "remote:0" };
  devices[0] = tn_device_of("cpu:0");
  for (int i = 0; i < 2; i++) {
    devices[1] = tn_device_of(others[i]);
    tn_block *block = tn_block_new(devices[1], 1);
    tn_block_release(block);
    if (block) return;
  }
  devices[1] = devices[0];
}

static void check_end(void)
{
  for (int i = 0; i < DEVICES; i++) {
    tn_memory_stats now;
    tn_empty_cache(devices[i]);
    tn_memory_get_stats(devices[i], &now);
    tap_is_int((long)(now.allocated.all.current + now.active.all.current +
                      now.reserved.all.current), 0,
               "A130 device %d has nothing left", i);
  }
  tn_empty_host_cache();
  tn_memory_stats now;
  tn_host_memory_get_stats(&now);
  tap_is_int((long)now.reserved.all.current, 0, "A130 nor is any pinned");
}

int main(void)
{
  static worker workers[THREADS];
  pthread_t threads[THREADS];
  size_t most[REPORTS] = { 0 };
  double seconds = seconds_from("TN_SOAK_SECONDS", 600);
  uint64_t seed = (uint64_t)seconds_from("TN_SOAK_SEED", (double)time(NULL));
  find_devices();
  char second[TN_DEVICE_TEXT_SIZE];
  tn_device_format(devices[1], second, sizeof second);
  tap_note("seed %" PRIu64 ", %g s, cpu:0 and %s", seed, seconds, second);
  for (int i = 0; i < THREADS; i++) {
    workers[i].random = (seed + 1) * 2654435761u + (uint64_t)i + 1;
    workers[i].device = devices[i % DEVICES];
    pthread_create(&threads[i], NULL, work, &workers[i]);
  }
  watch(seconds, most);
  atomic_store(&is_over, true);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  tap_ok(atomic_load(&steps) > 100, "A116 %lu steps", atomic_load(&steps));
  tap_is_int((long)atomic_load(&wrong), 0, "A116 M2 all %lu bytes were right",
             atomic_load(&bytes_checked));
  tap_is_int((long)atomic_load(&failures), 0, "M1 and no call failed");
  if (seconds < WARM)
    tap_skip("A130 whether memory is flat shows after %d s", WARM);
  else
    tap_ok(most[REPORTS - 1] <= most[REPORTS / 2] + most[REPORTS / 2] / 4,
           "A130 memory is flat: %zu MB in the middle, %zu MB at the end",
           most[REPORTS / 2] / 1000000, most[REPORTS - 1] / 1000000);
  check_end();
  return tap_done();
}
