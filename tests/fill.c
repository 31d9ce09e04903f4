/* Fills (rules S1, T6, X3). */
#include "config.h"

#include "tests/test_device.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static void test_size(size_t size, size_t offset, int value)
{
  unsigned char *got = malloc(size + 32);
  char *memory = tn_malloc(device, size + 32);
  tn_status status = tn_fill_bytes(memory, device, 1, size + 32);
  if (status == TN_OK)
    status = tn_fill_bytes(memory + offset, device, value, size);
  tn_copy(got, test_host, memory, device, size + 32, false);
  bool is_right = status == TN_OK;
  for (size_t i = 0; i < size + 32; i++) {
    bool is_inside = i >= offset && i < offset + size;
    is_right &= got[i] == (is_inside ? value : 1);
  }
  tap_ok(is_right, "S1 %zu bytes of %d at offset %zu, and no others", size,
         value, offset);
  tn_free(memory);
  free(got);
}

static void test_refusals(void)
{
  char bytes[4] = "abc", *memory = tn_malloc(device, 4);
  tap_is_int(tn_fill_bytes(memory, device, 256, 4), TN_INVALID_ARGUMENT,
             "T6 256 is no byte");
  tap_is_int(tn_fill_bytes(memory, device, -1, 4), TN_INVALID_ARGUMENT,
             "T6 nor is -1");
  tap_is_int(tn_fill_bytes(NULL, device, 0, 4), TN_INVALID_ARGUMENT,
             "T6 no destination");
  char *last = (char *)(UINTPTR_MAX - 7);
  tap_is_int(tn_fill_bytes(last, device, 0, 16), TN_SIZE_OVERFLOW,
             "R20 a range that wraps");
  tap_is_int(tn_fill_bytes(memory, device, 0, (size_t)1 << 62),
             TN_SIZE_OVERFLOW, "R20 more than any memory has");
  tap_is_int(tn_fill_bytes(NULL, device, 0, 0), TN_OK, "R21 0 bytes");
  tap_is_int(tn_fill_bytes(bytes, test_host, 'x', 2), TN_OK, "S1 on the host");
  tap_is_text(bytes, "xxc", "S1 just that");
  tn_free(memory);
}

int main(void)
{
  device = test_device();
  tn_stream *streams[] = { tn_default_stream(device),
                           tn_stream_new(device, 0) };
  for (int i = 0; i < 2; i++)
    tn_with_stream(streams[i]) {
      test_size(1, 0, 255);
      test_size(7, 3, 0);
      test_size(4096, 0, 128);
      test_size(1000001, 13, 42);
      test_size((3 << 20) + 5, 31, 7);
    }
  test_refusals();
  return tap_done();
}
