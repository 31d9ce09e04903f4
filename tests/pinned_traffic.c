/* Pinned memory (rules P1, P3; P2 is in record_stream.c). */
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
  if (tn_host_memory_get_stats(&now) != TN_OK) abort();
  return now;
}

static void test_figures(void)
{
  char *first = tn_malloc_pinned(10240 * sizeof(float));
  tap_ok(first != NULL, "P1 pinned memory");
  tap_is_int((long)stats().allocated.all.current, 65536,
             "A160 10240 floats take 65536 bytes");
  char *second = tn_malloc_pinned(20480 * sizeof(float));
  tap_is_int((long)stats().allocated.all.current, 65536 + 131072,
             "A160 20480 floats 131072 more");
  tap_is_int((long)stats().allocations.all.current, 2, "A160 two in number");
  tap_is_int((long)stats().requested.all.current, 30720 * 4,
             "M4 and what was asked for");
  memset(first, 1, 10240 * sizeof(float));
  memset(second, 2, 20480 * sizeof(float));
  tn_free(first);
  char *again = tn_malloc_pinned(10240 * sizeof(float));
  tap_ok(again == first, "A161 it is reused");
  tap_is_int((long)stats().segments.all.current, 2, "A161 not made anew");
  tn_free(again);
  tn_free(second);
  tap_is_int((long)stats().active.all.current, 0, "A160 nothing is in use");
  tap_ok(stats().active.all.peak >= 65536 + 131072, "A160 peaks are kept");
  char *large = tn_malloc_pinned((5 << 20) + 1);
  tap_is_int((long)stats().allocated.all.current, 6 << 20,
             "P3 large requests are not rounded to powers of two");
  tn_free(large);
}

static void test_ranges(void)
{
  char *memory = tn_malloc_pinned(1000), own[8];
  tap_ok(tn_memory_is_pinned(memory), "A165 the first byte is pinned");
  tap_ok(tn_memory_is_pinned(memory + 999), "A167 and the last");
  tap_ok(!tn_memory_is_pinned(memory + 1000), "A167 not what is behind it");
  tap_ok(!tn_memory_is_pinned(memory - 1), "A167 nor before");
  tap_ok(!tn_memory_is_pinned(own), "P1 nor the program's own");
  tap_ok(!tn_memory_is_pinned(NULL), "P1 nor nothing");
  tn_free(memory);
  tap_ok(!tn_memory_is_pinned(memory), "R63 nor what was given back");
  tn_clear_error();
  tn_free(memory);
  tap_is_int(tn_last_status(), TN_INVALID_ARGUMENT,
             "R63 which is not known any more");
  tn_clear_error();
  tap_ok(!tn_malloc_pinned(0) && tn_last_status() == TN_OK,
         "R21 0 bytes are NULL, which is no failure");
  tap_ok(!tn_malloc_pinned(SIZE_MAX) &&
             tn_last_status() == TN_SIZE_OVERFLOW,
         "R20 no more than there can be");
}

static void test_cache(void)
{
  char *live = tn_malloc_pinned(5000);
  tn_free(tn_malloc_pinned(100000));
  tn_memory_stats before = stats();
  tap_ok(before.reserved.all.current > before.allocated.all.current,
         "A160 something is cached");
  tap_is_int(tn_empty_host_cache(), TN_OK, "A168 the cache can be emptied");
  tn_memory_stats now = stats();
  tap_is_int((long)now.reserved.all.current,
             (long)now.allocated.all.current, "A160 then nothing is cached");
  tap_ok(now.allocated.all.current == before.allocated.all.current &&
             now.active.all.current == before.active.all.current,
         "A160 and what is live stays");
  live[4999] = 1;
  tap_is_int(tn_empty_host_cache(), TN_OK, "A171 empty it again");
  tap_is_int(tn_reset_peak_host_memory_stats(), TN_OK, "A160 reset");
  now = stats();
  tap_ok(now.active.all.peak == now.active.all.current &&
             now.allocations.all.peak == 1, "A160 peaks are what is current");
  tap_is_int(tn_reset_accumulated_host_memory_stats(), TN_OK, "A160 reset");
  now = stats();
  tap_ok(now.allocated.all.total_allocated == 8192 &&
             now.allocated.all.total_freed == 0,
         "A160 totals begin anew");
  tn_free(live);
}

/* P3's limits, as options. */
static void test_options(void)
{
  tn_empty_host_cache();
  tap_is_int(tn_set_alloc_conf("pinned_max_round_threshold_mb:4,"
                               "pinned_max_cached_size_mb:2"), TN_OK,
             "P3 limits can be set");
  char *memory = tn_malloc_pinned((3 << 20) + 1);
  tap_is_int((long)stats().allocated.all.current, 4 << 20,
             "P3 up to one, sizes are rounded to powers of two");
  tn_free(memory);
  tap_is_int((long)stats().reserved.all.current, 0,
             "P3 and above the other, nothing is cached");
  memory = tn_malloc_pinned((5 << 20) + 1);
  tap_is_int((long)stats().allocated.all.current, 6 << 20,
             "P3 beyond, to multiples of 2 MiB");
  tn_free(memory);
  tn_set_alloc_conf("");
}

/* The program's own memory. */
static void test_registering(void)
{
  static const size_t size = 100000;
  char *own = malloc(size), *other = malloc(size);
  tn_clear_error();
  tn_status status = tn_host_register(own, size);
  if (status == TN_UNSUPPORTED) {
    tap_has(tn_error_message(), "host_register",
            "A164 what the backend lacks is refused by name");
  } else {
    tap_is_int(status, TN_OK, "A164 memory is registered");
    tap_ok(tn_memory_is_pinned(own + size - 1), "A164 then it is pinned");
    tap_is_int(tn_host_register(own + 4096, 4096), TN_INVALID_ARGUMENT,
               "A164 no part of it can be registered again");
    char *memory = tn_malloc(device, size);
    memset(own, 7, size);
    tap_is_int(tn_copy(memory, device, own, test_host, size, true), TN_OK,
               "A164 it is copied from asynchronously");
    tn_free(own);
    tap_is_int(tn_last_status(), TN_INVALID_ARGUMENT,
               "A164 tn_free does not take it");
    tap_is_int(tn_host_unregister(own), TN_OK,
               "A164 unregistering waits for the copy");
    tap_ok(!tn_memory_is_pinned(own), "A164 then it is not pinned");
    memset(own, 8, size);
    tn_copy(other, test_host, memory, device, size, false);
    tap_is_int(other[size - 1], 7, "P2 the copy brought what was there");
    tn_free(memory);
  }
  tap_is_int(tn_host_unregister(other), TN_INVALID_ARGUMENT,
             "A164 what is not registered is refused");
  tap_is_int(tn_host_register(NULL, 5), TN_INVALID_ARGUMENT, "A164 NULL too");
  tap_is_int(tn_host_register(own, 0), TN_INVALID_ARGUMENT, "A164 and 0 bytes");
  free(own);
  free(other);
}

static void test_register_mode(void)
{
  tn_empty_host_cache();
  tap_is_int(tn_set_alloc_conf("pinned_use_cuda_host_register:True,"
                               "pinned_num_register_threads:4"), TN_OK,
             "A168 pinning by registering, by four threads");
  char *memory = tn_malloc_pinned(3 << 20);
  tap_ok(memory && tn_memory_is_pinned(memory + (3 << 20) - 1),
         "A168 gives pinned memory");
  if (memory) memset(memory, 1, 3 << 20);
  tn_free(memory);
  tap_is_int(tn_empty_host_cache(), TN_OK, "A168 that goes back, too");
  tap_is_int((long)stats().reserved.all.current, 0, "A168 all of it");
  tn_set_alloc_conf("");
}

enum { THREADS = 4, ROUNDS = 200, SIZE = 3000 };

/* There and back through pinned memory that goes from hand to hand. */
static void *copy_around(void *argument)
{
  unsigned char value = (unsigned char)(uintptr_t)argument;
  bool is_right = true;
  char *memory = tn_malloc(device, SIZE);
  tn_stream *stream = tn_stream_new(device, 0);
  tn_with_stream(stream)
    for (int i = 0; i < ROUNDS; i++) {
      unsigned char *in = tn_malloc_pinned(SIZE);
      memset(in, value, SIZE);
      tn_copy(memory, device, in, test_host, SIZE, true);
      tn_free(in);
      unsigned char *out = tn_malloc_pinned(SIZE);
      is_right &= tn_copy(out, test_host, memory, device, SIZE, true) == TN_OK;
      is_right &= tn_stream_synchronize(stream) == TN_OK;
      is_right &= out[0] == value && out[SIZE - 1] == value;
      tn_free(out);
    }
  tn_free(memory);
  tn_stream_release(stream);
  return is_right ? argument : NULL;
}

static void test_threads(void)
{
  pthread_t threads[THREADS];
  bool are_right = true;
  for (uintptr_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, copy_around, (void *)(i + 1));
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    are_right &= result != NULL;
  }
  tap_ok(are_right, "A168 P2 %d threads send values through it", THREADS);
  tap_is_int((long)stats().allocations.all.current, 0, "A130 all is back");
}

int main(void)
{
  device = test_device();
  char text[TN_DEVICE_TEXT_SIZE];
  tn_device_format(device, text, sizeof text);
  tap_is_int(tn_set_default_device(device), TN_OK,
             "P1 the accelerator in use is %s", text);
  tap_ok(!tn_memory_is_pinned(text), "A170 asking needs no device");
  test_figures();
  test_ranges();
  test_cache();
  test_options();
  test_registering();
  test_register_mode();
  test_threads();
  return tap_done();
}
