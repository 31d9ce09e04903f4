/* Rules M1 to M8, as far as a program can see them. */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

#define MIB ((size_t)1 << 20)

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  conform_ok(tn_memory_get_stats(conform_device, &now), "statistics");
  return now;
}

static void run_alignment(void)
{
  static const size_t sizes[] = { 1, 3, 300, 512, 5000, 100000, MIB, 3 * MIB,
                                  11 * MIB, 21 * MIB + 1 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int k = 0; k < 4; k++) {
      uintptr_t at =
          (uintptr_t)conform_memory_new(conform_device, sizes[i]);
      conform_check(at % 256 == 0,
                    "%zu bytes at 0x%zx: no multiple of 256", sizes[i],
                    (size_t)at);
    }
}

/* Pieces of all sizes, each with its number on it to its last byte. */
static void run_apart(void)
{
  enum { COUNT = 40 };
  unsigned char *memory[COUNT];
  size_t sizes[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    sizes[i] = i < 6    ? 11 * MIB + i
               : i < 12 ? 2 * MIB + i
               : i < 24 ? 700000 + i
                        : 1 + conform_random(5000);
    memory[i] = conform_memory_new(conform_device, sizes[i]);
    conform_ok(tn_fill_bytes(memory[i], conform_device, (int)i + 1, sizes[i]),
               "a fill");
  }
  for (size_t i = 0; i < COUNT; i++)
    for (size_t j = 0; j < i; j++)
      conform_check(memory[i] + sizes[i] <= memory[j] ||
                        memory[j] + sizes[j] <= memory[i],
                    "%zu bytes at %p and %zu bytes at %p overlap", sizes[i],
                    (void *)memory[i], sizes[j], (void *)memory[j]);
  for (size_t i = 0; i < COUNT; i++)
    conform_all(conform_device, memory[i], (unsigned char)(i + 1), sizes[i],
                "block %zu", i);
}

static void run_two_apart(void)
{
  tn_device second = conform_second();
  for (int i = 0; i < 10; i++) {
    unsigned char *one = conform_memory_new(conform_device, 12 * MIB);
    unsigned char *two = conform_memory_new(second, 12 * MIB);
    conform_check(one + 12 * MIB <= two || two + 12 * MIB <= one,
                  "memory of two devices has the same addresses");
    tn_fill_bytes(one, conform_device, 1, 12 * MIB);
    tn_fill_bytes(two, second, 2, 12 * MIB);
    conform_all(conform_device, one, 1, 12 * MIB, "the first device's");
    conform_all(second, two, 2, 12 * MIB, "the second device's");
    tn_free(one);
    tn_free(two);
    if (i % 3 == 0) tn_empty_cache(conform_device);
  }
}

/* Allocated and freed at random: every live byte stays. */
static void run_random(void)
{
  enum { LIVE = 12, STEPS = 150 };
  struct { unsigned char *memory, value; size_t size; } live[LIVE] = { 0 };
  for (int i = 0; i < STEPS; i++) {
    uint32_t k = conform_random(LIVE);
    if (live[k].memory) {
      conform_all(conform_device, live[k].memory, live[k].value, live[k].size,
                  "step %d: %zu live bytes", i, live[k].size);
      tn_free(live[k].memory);
      live[k].memory = NULL;
      if (conform_random(8) == 0) tn_empty_cache(conform_device);
      continue;
    }
    live[k].size = 1 + (conform_random(4) ? conform_random(50000)
                                          : conform_random(3 << 20));
    live[k].value = (unsigned char)conform_random(256);
    live[k].memory = conform_memory_new(conform_device, live[k].size);
    conform_ok(tn_fill_bytes(live[k].memory, conform_device, live[k].value,
                             live[k].size), "a fill");
  }
}

static void run_sizes(void)
{
  tn_empty_cache(conform_device);
  tn_memory_stats was = stats();
  void *memory = conform_memory_new(conform_device, 1000);
  tn_memory_stats now = stats();
  conform_check(now.active.all.current - was.active.all.current == 1024,
                "1000 bytes are 1024");
  conform_check(now.reserved.all.current - was.reserved.all.current ==
                    2 * MIB, "of a segment of 2 MiB");
  tn_free(memory);
  was = stats();
  conform_memory_new(conform_device, 10 * MIB + 512);
  now = stats();
  conform_check(now.reserved.all.current - was.reserved.all.current ==
                    12 * MIB, "10 MiB and 512 bytes have one of 12 MiB");
  was = now;
  conform_memory_new(conform_device, 2 * MIB);
  now = stats();
  conform_check(now.reserved.all.current - was.reserved.all.current ==
                    20 * MIB, "2 MiB are of a segment of 20 MiB");
}

static void run_reuse(void)
{
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_with_stream(stream) {
    void *memory = conform_memory_new(conform_device, 30 * MIB);
    tn_free(memory);
    void *again = conform_memory_new(conform_device, 30 * MIB);
    conform_check(memory == again, "freed memory is had again at once");
    tn_free(again);
  }
}

/* Used elsewhere, it is kept until that is over. */
static void run_recorded(void)
{
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_stream *other = conform_stream_new(conform_device, 0);
  void *memory = NULL, *meanwhile = NULL, *later = NULL;
  tn_synchronize(conform_device);
  conform_gate gate = conform_gate_shut(other);
  tn_with_stream(stream) {
    memory = conform_memory_new(conform_device, 30 * MIB);
    conform_ok(tn_memory_record_stream((char *)memory + 100, other),
               "recording a use");
    tn_free(memory);
    meanwhile = conform_memory_new(conform_device, 30 * MIB);
    conform_check(memory != meanwhile,
                  "memory that a busy stream uses was handed out");
    tn_free(meanwhile);
    conform_gate_open(&gate);
    conform_ok(tn_stream_synchronize(other), "synchronising");
    conform_ok(tn_empty_cache(conform_device), "emptying the cache");
    later = conform_memory_new(conform_device, 30 * MIB);
  }
  tn_free(later);
}

/* Memory that work is queued on may be freed. */
static void run_freed_early(void)
{
  enum { SIZE = 3000000 };
  tn_stream *stream = conform_stream_new(conform_device, 0);
  unsigned char *kept = conform_memory_new(conform_device, SIZE);
  tn_synchronize(conform_device);
  for (int i = 1; i <= 30; i++) {
    tn_with_stream(stream) {
      unsigned char *memory = conform_memory_new(conform_device, SIZE);
      tn_fill_bytes(memory, conform_device, i, SIZE);
      tn_copy(kept, conform_device, memory, conform_device, SIZE, true);
      tn_free(memory);
      memory = conform_memory_new(conform_device, SIZE);
      tn_fill_bytes(memory, conform_device, 255, SIZE);
      tn_free(memory);
      conform_all(conform_device, kept, (unsigned char)i, SIZE,
                  "round %d: what freed memory held", i);
    }
  }
}

static void run_too_much(void)
{
  tn_clear_error();
  conform_check(!tn_malloc(conform_device, (size_t)800000000 << 30),
                "800000000 GiB are had");
  conform_is(tn_last_status(), TN_OUT_OF_MEMORY, "800000000 GiB");
  conform_error_has(conform_text, "the device is named");
  conform_error_has("858993459200000000", "the size is named");
  conform_check(!tn_malloc(conform_device, (size_t)8000000000 << 30),
                "8000000000 GiB are had");
  conform_is(tn_last_status(), TN_SIZE_OVERFLOW, "8000000000 GiB");
  tn_clear_error();
  conform_check(conform_works(conform_device),
                "afterwards the device works");
}

/* Until there is no more; then what is given back can be had again. A device
 * that says it has more than the host is not filled. */
static void run_exhausted(void)
{
  enum { PARTS = 4 };
  void *memory[PARTS + 2] = { 0 };
  size_t unused, total;
  int count = 0;
  conform_ok(tn_mem_get_info(conform_device, &unused, &total), "figures");
  size_t part = total / PARTS / (2 * MIB) * (2 * MIB);
  conform_check(part > 0, "%zu bytes in all", total);
  unsigned char *live = conform_memory_new(conform_device, 1000);
  tn_fill_bytes(live, conform_device, 77, 1000);
  while (count < PARTS + 2 &&
         (memory[count] = tn_malloc(conform_device, part)) != NULL)
    count++;
  conform_check(count <= PARTS, "%d quarters of its memory are had", count);
  conform_is(tn_last_status(), TN_OUT_OF_MEMORY, "one quarter more");
  tn_clear_error();
  conform_all(conform_device, live, 77, 1000, "what was there before");
  if (count == 0) return;
  tn_free(memory[0]);
  memory[0] = tn_malloc(conform_device, part);
  conform_check(memory[0] != NULL, "a quarter that was given back");
  for (int i = 0; i < count; i++) tn_free(memory[i]);
}

/* Given back, it is there again, time after time. */
static void run_given_back(void)
{
  size_t unused, total, later;
  conform_ok(tn_mem_get_info(conform_device, &unused, &total), "figures");
  size_t part = total / 4 / (2 * MIB) * (2 * MIB);
  if (part > unused / 2) part = unused / 2 / (2 * MIB) * (2 * MIB);
  for (int i = 0; i < 12; i++) {
    void *memory = tn_malloc(conform_device, part);
    conform_check(memory != NULL, "round %d: %zu bytes, of %zu given back "
                  "before", i, part, part);
    tn_free(memory);
    conform_ok(tn_empty_cache(conform_device), "emptying the cache");
  }
  conform_check(tn_memory_reserved(conform_device) == 0 || part == 0,
                "an empty cache holds %zu bytes",
                tn_memory_reserved(conform_device));
  conform_ok(tn_mem_get_info(conform_device, &later, &total), "figures");
}

static bool is_sum(const tn_memory_stat_pools *p)
{
  return p->all.current == p->small.current + p->large.current &&
         p->all.current == p->all.total_allocated - p->all.total_freed &&
         p->all.peak >= p->all.current;
}

static void run_statistics(void)
{
  void *small = conform_memory_new(conform_device, 1000);
  void *large = conform_memory_new(conform_device, 3 * MIB);
  tn_memory_stats now = stats();
  conform_check(is_sum(&now.allocated) && is_sum(&now.reserved) &&
                    is_sum(&now.active) && is_sum(&now.requested) &&
                    is_sum(&now.allocations) && is_sum(&now.segments),
                "figures are sums of small and large, and of what came and "
                "went");
  conform_check(now.reserved.all.current >= now.allocated.all.current,
                "more is allocated than reserved");
  tn_free(small);
  tn_free(large);
  conform_ok(tn_reset_peak_memory_stats(conform_device), "reset");
  now = stats();
  conform_check(now.allocated.all.peak == now.allocated.all.current,
                "peaks begin anew");
}

/* Numbers behind a key of the snapshot, added up. */
static uint64_t add_up(const char *json, const char *key)
{
  uint64_t sum = 0;
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  for (const char *at = json; (at = strstr(at, quoted)); at++)
    sum += strtoull(at + strlen(quoted), NULL, 10);
  return sum;
}

static void run_snapshot(void)
{
  char *json = NULL;
  size_t size = 0;
  conform_memory_new(conform_device, 1000);
  conform_memory_new(conform_device, 3 * MIB);
  FILE *file = open_memstream(&json, &size);
  conform_check(file != NULL, "memory of the host");
  conform_ok(tn_memory_snapshot(conform_device, file), "a snapshot");
  fclose(file);
  tn_memory_stats now = stats();
  uint64_t total = add_up(json, "total_size");
  uint64_t active = add_up(json, "active_size");
  free(json);
  conform_check(total == now.reserved.all.current,
                "segments of %llu bytes, and %llu are reserved",
                (unsigned long long)total,
                (unsigned long long)now.reserved.all.current);
  conform_check(active == now.active.all.current,
                "%llu active bytes, and %llu in the statistics",
                (unsigned long long)active,
                (unsigned long long)now.active.all.current);
}

static void run_options(void)
{
  conform_is(tn_set_alloc_conf("no_such_key:1"), TN_INVALID_ARGUMENT,
             "an unknown option");
  conform_error_has("no_such_key", "it is named");
  conform_ok(tn_set_alloc_conf("roundup_power2_divisions:4"), "an option");
  tn_memory_stats was = stats();
  void *memory = conform_memory_new(conform_device, 84 * MIB);
  conform_check(stats().active.all.current - was.active.all.current ==
                    96 * MIB, "84 MiB are rounded to 96 MiB");
  tn_free(memory);
  conform_ok(tn_set_alloc_conf(""), "no option");
}

static void run_pools(void)
{
  tn_mem_pool *pool = tn_mem_pool_new(conform_device);
  conform_check(pool != NULL, "a memory pool");
  void *inside = NULL;
  tn_with_pool(pool) inside = conform_memory_new(conform_device, 5000);
  void *outside = conform_memory_new(conform_device, 5000);
  conform_check(tn_mem_pool_check_live(pool, &inside, 1),
                "the pool has what was made in its block");
  tn_free(inside);
  conform_check(tn_mem_pool_check_live(pool, NULL, 0),
                "and not what was made outside");
  void *other = conform_memory_new(conform_device, 5000);
  conform_check(other != inside, "nor lends its memory");
  tn_mem_pool_release(pool);
  tn_free(other);
  tn_free(outside);
}

/* Whether the figures fall by what is allocated and used: others may give
 * memory back meanwhile, so one time of several will do. */
static bool falls(size_t part, size_t total)
{
  size_t unused = 0, less = 0, again = 0;
  conform_ok(tn_mem_get_info(conform_device, &unused, &again), "figures");
  void *memory = conform_memory_new(conform_device, part);
  conform_ok(tn_fill_bytes(memory, conform_device, 1, part), "a fill");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_ok(tn_mem_get_info(conform_device, &less, &again), "figures");
  conform_check(again == total, "the total was %zu and is %zu", total, again);
  return less < unused && unused - less >= part / 2;
}

static void run_capacity(void)
{
  tn_device_info info = conform_info();
  size_t unused = 0, total = 0;
  bool has_fallen = false;
  conform_ok(tn_mem_get_info(conform_device, &unused, &total), "figures");
  conform_check(total > 0 && unused <= total, "%zu bytes of %zu are free",
                unused, total);
  conform_check(info.memory_total == 0 || info.memory_total == total,
                "%zu bytes in all, and %llu by the facts", total,
                (unsigned long long)info.memory_total);
  size_t part = unused / 16 / (2 * MIB) * (2 * MIB);
  if (part > 64 * MIB) part = 64 * MIB;
  for (int i = 0; i < 8 && !has_fallen; i++) has_fallen = falls(part, total);
  conform_check(has_fallen, "the free bytes do not fall by the %zu that are "
                "allocated", part);
}

static void run_fraction(void)
{
  size_t unused, total;
  conform_ok(tn_mem_get_info(conform_device, &unused, &total), "figures");
  conform_is(tn_set_memory_fraction(conform_device, 1.5),
             TN_INVALID_ARGUMENT, "a budget of 1.5");
  double few = 100.0 * (double)MIB / (double)total;
  conform_ok(tn_set_memory_fraction(conform_device, few > 1 ? 1 : few),
             "a budget of 100 MiB");
  conform_check(!tn_malloc(conform_device, total > 200 * MIB
                                               ? 150 * MIB : total * 2),
                "more than the budget is had");
  conform_is(tn_last_status(), TN_OUT_OF_MEMORY, "more than the budget");
  tn_clear_error();
  conform_memory_new(conform_device, 20 * MIB);
  conform_ok(tn_set_memory_fraction(conform_device, 1), "no budget");
}

static void run_uncached(void)
{
  setenv("TENON_NO_MEMORY_CACHING", "1", 1);
  conform_open();
  for (int i = 1; i < 6; i++) {
    size_t size = (size_t)i * 700000;
    unsigned char *memory = conform_memory_new(conform_device, size);
    tn_fill_bytes(memory, conform_device, i, size);
    conform_all(conform_device, memory, (unsigned char)i, size, "uncached");
    tn_free(memory);
    conform_ok(tn_synchronize(conform_device), "synchronising");
    conform_check(tn_memory_reserved(conform_device) == 0,
                  "%zu bytes are cached",
                  tn_memory_reserved(conform_device));
  }
}

static void run_in_place(void)
{
  enum { SIZE = 300000 };
  if (!conform_info().host_access) conform_absent("host access");
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  unsigned char *wanted = conform_host_new(SIZE), *got =
      conform_host_new(SIZE);
  conform_draw(wanted, SIZE, 41);
  conform_send(conform_device, memory, wanted, SIZE);
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_same(memory, wanted, SIZE, "memory read in place");
  memset(memory, 9, SIZE);
  memset(wanted, 9, SIZE);
  conform_fetch(conform_device, got, memory, SIZE);
  conform_same(got, wanted, SIZE, "memory written in place");
}

/* Each thread has its own pieces. */
static void *use_memory(void *argument)
{
  unsigned char value = (unsigned char)(uintptr_t)argument;
  bool is_right = true;
  unsigned char got[3000];
  tn_set_stream(tn_stream_new(conform_device, 0));
  for (int i = 0; i < 100; i++) {
    void *memory = tn_malloc(conform_device, sizeof got);
    is_right &= memory && tn_fill_bytes(memory, conform_device, value,
                                        sizeof got) == TN_OK;
    is_right &= tn_copy(got, conform_nowhere, memory, conform_device,
                        sizeof got, false) == TN_OK;
    for (size_t k = 0; k < sizeof got; k++) is_right &= got[k] == value;
    tn_free(memory);
  }
  return is_right ? argument : NULL;
}

static void run_threads(void)
{
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  bool are_right = true;
  for (uintptr_t i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, use_memory, (void *)(i + 1)) != 0)
      abort();
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    are_right &= result != NULL;
  }
  conform_check(are_right, "%d threads find their own bytes", THREADS);
}

#define M CONFORM_MEMORY_BIT
#define S CONFORM_STREAM_BIT
static const conform_test tests[] = {
  { "M1", "alignment", CONFORM_MINIMAL, M, false,
    "addresses are multiples of 256", run_alignment },
  { "M1", "apart", CONFORM_MINIMAL, M, false,
    "what is allocated is there to its last byte, and nobody else's",
    run_apart },
  { "M1", "two_apart", CONFORM_MINIMAL, M | CONFORM_TWO_BIT, false,
    "addresses of two devices differ", run_two_apart },
  { "M1", "random", CONFORM_MINIMAL, M, false,
    "live bytes stay while others come and go", run_random },
  { "M1", "sizes", CONFORM_MINIMAL, M, false,
    "blocks and segments have their sizes", run_sizes },
  { "M1", "threads", CONFORM_MINIMAL, M, false,
    "threads allocate at once", run_threads },
  { "M1", "in_place", CONFORM_MINIMAL, M, false,
    "memory with host access is used in place", run_in_place },
  { "M2", "reuse", CONFORM_MINIMAL, M | S, false,
    "freed memory is had again at once on its stream", run_reuse },
  { "M2", "recorded", CONFORM_STREAMS, M | S, false,
    "what another stream uses is kept until it is done", run_recorded },
  { "M2", "freed_early", CONFORM_MINIMAL, M | S, false,
    "memory may be freed with work queued on it", run_freed_early },
  { "M3", "too_much", CONFORM_MINIMAL, M, false,
    "too much is refused, naming size and device", run_too_much },
  { "M3", "exhausted", CONFORM_MINIMAL, M, false,
    "memory comes to an end, and the process goes on", run_exhausted },
  { "M3", "given_back", CONFORM_MINIMAL, M, false,
    "what was given back can be had again", run_given_back },
  { "M4", "statistics", CONFORM_MINIMAL, M, false,
    "statistics are sums", run_statistics },
  { "M4", "snapshot", CONFORM_MINIMAL, M, false,
    "a snapshot's sums are the statistics", run_snapshot },
  { "M5", "options", CONFORM_MINIMAL, M, false,
    "options by PyTorch's names", run_options },
  { "M6", "pools", CONFORM_MINIMAL, M, false,
    "memory pools keep what is theirs", run_pools },
  { "M7", "capacity", CONFORM_MINIMAL, M, false,
    "free and total bytes are told truthfully", run_capacity },
  { "M7", "fraction", CONFORM_MINIMAL, M, false,
    "a budget holds", run_fraction },
  { "M8", "uncached", CONFORM_MINIMAL, M, true,
    "without caching nothing is kept", run_uncached },
};
CONFORM_SECTION(conform_memory, tests);
