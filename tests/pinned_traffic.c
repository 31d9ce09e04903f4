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
  test_threads();
  return tap_done();
}
