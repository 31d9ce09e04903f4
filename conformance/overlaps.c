/* Rule T7: overlapping copies behave as if the source were copied first. */
#include "config.h"

#include <string.h>

#include "conformance/check.h"

/* memmove is the reference. */
static void shift(size_t size, size_t to, size_t from, size_t count)
{
  unsigned char *wanted = conform_host_new(size), *got =
      conform_host_new(size);
  unsigned char *memory = conform_memory_new(conform_device, size);
  conform_draw(wanted, size, (uint32_t)size);
  conform_send(conform_device, memory, wanted, size);
  memmove(wanted + to, wanted + from, count);
  conform_ok(tn_copy(memory + to, conform_device, memory + from,
                     conform_device, count, true), "a copy onto itself");
  conform_fetch(conform_device, got, memory, size);
  conform_same(got, wanted, size, "%zu bytes from %zu to %zu of themselves",
               count, from, to);
  tn_free(memory);
}

static void shift_all(void)
{
  shift(10, 1, 0, 9);
  shift(10, 0, 1, 9);
  shift(100000, 512, 0, 90000);
  shift(100000, 0, 7, 99000);
  shift(1 << 20, 4096, 4096, 1 << 19);
  shift(3 << 20, 1 << 20, 1, 2 << 20);
}

static void run_default(void) { shift_all(); }

static void run_stream(void)
{
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_with_stream(stream) shift_all();
}

static const conform_test tests[] = {
  { "T7", "default", CONFORM_MINIMAL, CONFORM_COPY_BIT, false,
    "a range copied onto itself, on the default stream", run_default },
  { "T7", "stream", CONFORM_MINIMAL,
    CONFORM_COPY_BIT | CONFORM_STREAM_BIT, false,
    "a range copied onto itself, on another stream", run_stream },
};
CONFORM_SECTION(conform_overlaps, tests);
