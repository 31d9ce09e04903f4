/* Memory of any device, as programs see it (rules M1, M2, M4, R21). */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  if (tn_memory_get_stats(device, &now) != TN_OK) abort();
  return now;
}

static void test_figures(void)
{
  size_t before = tn_memory_allocated(device);
  tn_memory_stats was = stats();
  void *memory = tn_malloc(device, 1);
  tap_ok(tn_memory_allocated(device) > before, "A090 1 byte is counted");
  tn_free(memory);
  tap_is_int((long)tn_memory_allocated(device), (long)before,
             "A090 and no more");
  tn_block *block = tn_block_new(device, 256 * sizeof(float));
  tn_memory_stats now = stats();
  tap_is_int((long)(now.active.all.current - was.active.all.current), 1024,
             "A091 256 floats are 1024 active bytes");
  tn_block_release(block);
  tn_empty_cache(device);
  now = stats();
  tap_is_int((long)now.active.all.current, (long)was.active.all.current,
             "A091 afterwards as before");
  tap_is_int((long)(now.active.all.total_freed -
                    was.active.all.total_freed), 1024 + 512,
             "A091 and that much was freed");
  tap_is_int(tn_reset_peak_memory_stats(device), TN_OK, "A092 reset");
  now = stats();
  tap_ok(now.allocated.all.peak == now.allocated.all.current &&
             now.reserved.all.peak == now.reserved.all.current,
         "A092 peaks are what is current");
  size_t unused = 0, total = 0;
  tap_is_int(tn_mem_get_info(device, &unused, &total), TN_OK,
             "A118 the device's own figures");
  tap_ok(total > 0 && unused <= total, "A118 make sense");
}

/* Every figure of a pool is the sum of its two. */
static bool is_sum(const tn_memory_stat_pools *pools)
{
  return pools->all.current == pools->small.current + pools->large.current &&
         pools->all.total_allocated == pools->small.total_allocated +
                                       pools->large.total_allocated &&
         pools->all.current == pools->all.total_allocated -
                               pools->all.total_freed &&
         pools->all.peak >= pools->all.current;
}

static void test_sums(void)
{
  void *small = tn_malloc(device, 100), *large = tn_malloc(device, 3 << 20);
  tn_memory_stats now = stats();
  tap_ok(is_sum(&now.allocated) && is_sum(&now.reserved) &&
             is_sum(&now.active) && is_sum(&now.requested) &&
             is_sum(&now.inactive_split) && is_sum(&now.allocations) &&
             is_sum(&now.segments),
         "A094 figures are sums of small and large");
  tap_ok(now.allocated.small.current >= 512 &&
             now.allocated.large.current >= 3 << 20,
         "A093 which are told apart");
  tap_ok(now.reserved.all.current >=
             now.allocated.all.current + now.inactive_split.all.current,
         "A094 what is reserved holds what is allocated and split");
  tn_free(small);
  tn_free(large);
}

static void test_refusals(void)
{
  tn_memory_stats was = stats();
  tap_ok(!tn_malloc(device, (size_t)800000000 << 30), "A140 too much");
  tap_is_int(tn_last_status(), TN_OUT_OF_MEMORY, "A145 by its status");
  char text[TN_DEVICE_TEXT_SIZE];
  tn_device_format(device, text, sizeof text);
  tap_has(tn_error_message(), text, "A140 names the device");
  tap_has(tn_error_message(), "858993459200000000", "A140 and the size");
  tap_ok(!tn_malloc(device, (size_t)8000000000 << 30), "A141 over 1 EiB");
  tap_is_int(tn_last_status(), TN_SIZE_OVERFLOW, "A141 is another error");
  tap_is_int((long)(stats().num_ooms - was.num_ooms), 1, "M4 one is counted");
  void *memory = tn_malloc(device, 100);
  tap_ok(memory != NULL, "A142 memory can still be had");
  tn_free(memory);
  tn_device invalid = { -1, -1 };
  tap_ok(!tn_malloc(invalid, 1) && tn_last_status() == TN_INVALID_ARGUMENT,
         "D1 not on the invalid device");
  tap_ok(!tn_block_new(test_host, 1) &&
             tn_last_status() == TN_INVALID_ARGUMENT,
         "D1 nor on none");
}

static void test_addresses(void)
{
  enum { COUNT = 1000 };
  static void *memory[COUNT];
  bool are_different = true, are_aligned = true;
  for (int i = 0; i < COUNT; i++) {
    memory[i] = tn_malloc(device, (size_t)(i % 7) * 300 + 1);
    are_aligned &= (uintptr_t)memory[i] % 256 == 0;
    for (int j = 0; j < i; j += 13) are_different &= memory[j] != memory[i];
  }
  tap_ok(are_different, "A131 addresses differ");
  tap_ok(are_aligned, "M1 and are aligned");
  for (int i = 0; i < COUNT; i += 2) tn_free(memory[i]);
  for (int i = COUNT - 1; i > 0; i -= 2) tn_free(memory[i]);
  tn_clear_error();
  tn_free(memory[0]);
  tap_is_int(tn_last_status(), TN_INVALID_ARGUMENT,
             "R63 what was given back is not known any more");
  tap_is_int((long)stats().allocations.all.current, 0, "A130 all is back");
}

enum { THREADS = 4, ROUNDS = 2000 };

/* Blocks with their number written on them, on a stream of the thread's. */
static void *use_memory(void *argument)
{
  unsigned seed = (unsigned)(uintptr_t)argument;
  bool is_right = true;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_with_stream(stream) {
    void *live[8] = { 0 };
    for (int i = 0; i < ROUNDS; i++) {
      seed = seed * 1103515245u + 12345u;
      unsigned which = (seed >> 16) % 8;
      if (live[which]) tn_free(live[which]);
      live[which] = tn_malloc(device, (seed >> 8) % 4096 + 1);
      is_right &= live[which] != NULL;
      if (i % 100 == 0) tn_empty_cache(device);
    }
    for (int i = 0; i < 8; i++) tn_free(live[i]);
  }
  tn_stream_release(stream);
  return is_right ? argument : NULL;
}

static void test_threads(void)
{
  pthread_t threads[THREADS];
  bool are_right = true;
  for (uintptr_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, use_memory, (void *)(i + 1));
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    are_right &= result != NULL;
  }
  tap_ok(are_right, "M1 %d threads at once", THREADS);
  tap_is_int((long)stats().allocations.all.current, 0, "A130 all is back");
  tap_is_int((long)stats().allocated.all.current, 0, "M4 in every figure");
}

/* Made here, given back there, on one stream. */
static void *give_back(void *memory)
{
  tn_free(memory);
  return NULL;
}

static void test_across_threads(void)
{
  pthread_t thread;
  void *memory = tn_malloc(device, 4096);
  pthread_create(&thread, NULL, give_back, memory);
  pthread_join(thread, NULL);
  tap_is_int((long)stats().allocations.all.current, 0,
             "M1 another thread may give memory back");
}

static void test_empty(void)
{
  tn_memory_stats was = stats();
  tn_clear_error();
  tap_ok(!tn_malloc(device, 0), "R21 0 bytes are NULL");
  tap_is_int(tn_last_status(), TN_OK, "R21 which is no failure");
  tn_memory_stats now = stats();
  tap_is_int(memcmp(&was, &now, sizeof now), 0, "A096 and changes nothing");
  tn_free(NULL);
  tap_is_int(tn_last_status(), TN_OK, "R21 NULL can be given back");
}

int main(void)
{
  device = test_device();
  test_figures();
  test_sums();
  test_refusals();
  test_addresses();
  test_threads();
  test_across_threads();
  test_empty();
  return tap_done();
}
