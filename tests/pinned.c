/* Pinned host memory, on any device (rules P1, P3, T6, A160, A165 to A168). */
#include "config.h"

#include "tests/test_device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static tn_memory_stats stats(void)
{
  tn_memory_stats now;
  memset(&now, 0, sizeof now);
  tap_is_int(tn_host_memory_get_stats(&now), TN_OK, "P1 there are statistics");
  return now;
}

/* How much one request for `bytes` adds to what is allocated. */
static uint64_t size_of(size_t bytes)
{
  uint64_t before = stats().allocated.all.current;
  void *memory = tn_malloc_pinned(bytes);
  uint64_t after = stats().allocated.all.current;
  tn_free(memory);
  tap_is_int((long long)stats().allocated.all.current, (long long)before,
             "A160 %zu bytes are given back", bytes);
  return after - before;
}

static void test_sizes(void)
{
  static const struct {
    size_t asked, given;
  } cases[] = {
    { 1, 512 },
    { 40960, 65536 },
    { 81920, 131072 },
    { 131073, 262144 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    tap_is_int((long long)size_of(cases[i].asked),
               (long long)cases[i].given, "A160 P3 %zu bytes take a power of "
               "two", cases[i].asked);
  size_t large = ((size_t)48 << 20) + 1;
  uint64_t given = size_of(large);
  tap_ok(given >= large && given - large <= (size_t)2 << 20,
         "P3 %zu bytes do not double: %" PRIu64, large, given);
}

static void test_ranges(void)
{
  char *memory = tn_malloc_pinned(10000), plain[16];
  if (!tap_ok(memory != NULL, "P1 pinned memory")) return;
  memset(memory, 1, 10000);
  tap_ok(tn_memory_is_pinned(memory), "P1 it is pinned");
  tap_ok(tn_memory_is_pinned(memory + 1), "A165 from its second byte on too");
  tap_ok(tn_memory_is_pinned(memory + 9999), "A167 to the last");
  tap_ok(!tn_memory_is_pinned(plain), "P1 other memory is not");
  tap_ok(!tn_memory_is_pinned(NULL), "P1 nor is NULL");
  tn_free(memory);
}

static void test_odd_requests(void)
{
  tn_clear_error();
  tap_ok(!tn_malloc_pinned(0), "T6 0 bytes are NULL");
  tap_is_int(tn_last_status(), TN_OK, "T6 which is no failure");
  tap_ok(!tn_malloc_pinned(SIZE_MAX - 100), "T6 a size that wraps is refused");
  tap_ok(tn_last_status() == TN_SIZE_OVERFLOW ||
             tn_last_status() == TN_OUT_OF_MEMORY,
         "T6 and says so: %s", tn_error_message());
  char local[8];
  tn_clear_error();
  tn_free(local);
  tap_is_int(tn_last_status(), TN_INVALID_ARGUMENT,
             "P1 memory of others is not freed");
}

static void test_peaks(void)
{
  tn_memory_stats before = stats();
  void *memory = tn_malloc_pinned(1 << 20);
  tn_memory_stats during = stats();
  tap_is_int((long long)(during.allocations.all.current -
                         before.allocations.all.current),
             1, "A160 one allocation");
  tap_ok(during.allocated.all.peak >= during.allocated.all.current,
         "A160 peaks are no less than what is");
  tn_free(memory);
}

int main(void)
{
  tap_ok(!tn_memory_is_pinned(&device), "A170 asking comes before any device");
  device = test_device();
  tap_is_int(tn_set_default_device(device), TN_OK,
             "P1 pinned memory is of the default device's backend");
  test_sizes();
  test_ranges();
  test_odd_requests();
  test_peaks();
  return tap_done();
}
