/* Rules P1 to P3. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

static void run_ranges(void)
{
  unsigned char *memory = conform_pinned_new(1000), own[8] = { 0 };
  conform_check(tn_memory_is_pinned(memory) &&
                    tn_memory_is_pinned(memory + 999),
                "all of it is pinned");
  conform_check(!tn_memory_is_pinned(memory + 1000) &&
                    !tn_memory_is_pinned(memory - 1) &&
                    !tn_memory_is_pinned(own) && !tn_memory_is_pinned(NULL),
                "and nothing else");
  tn_free(memory);
  conform_check(!tn_memory_is_pinned(memory), "nor what was given back");
}

/* The host uses it, and each piece is apart from the others. */
static void run_apart(void)
{
  enum { COUNT = 12 };
  static const size_t sizes[] = { 100, 5000, 70000, 3 << 20 };
  unsigned char *memory[COUNT];
  for (int i = 0; i < COUNT; i++) {
    memory[i] = conform_pinned_new(sizes[i % 4]);
    memset(memory[i], i + 1, sizes[i % 4]);
  }
  for (int i = 0; i < COUNT; i++)
    for (size_t k = 0; k < sizes[i % 4]; k++)
      conform_check(memory[i][k] == i + 1, "piece %d of %zu bytes has %d at "
                    "byte %zu", i, sizes[i % 4], memory[i][k], k);
  for (int i = 0; i < COUNT; i++) {
    unsigned char *device = conform_memory_new(conform_device, sizes[i % 4]);
    conform_send(conform_device, device, memory[i], sizes[i % 4]);
    conform_all(conform_device, device, (unsigned char)(i + 1), sizes[i % 4],
                "piece %d on the device", i);
    tn_free(device);
  }
}

/* What a queued copy uses is not handed out again, whatever the host's side is
 * called. */
static void try_pending(tn_device device, tn_device host)
{
  enum { SIZE = 60000 };
  unsigned char *memory = conform_memory_new(device, SIZE);
  tn_stream *stream = conform_stream_new(device, 0);
  tn_synchronize(device);
  unsigned char *in = conform_pinned_new(SIZE);
  memset(in, 1, SIZE);
  conform_gate gate = conform_gate_shut(stream);
  tn_with_stream(stream)
    conform_ok(tn_copy(memory, device, in, host, SIZE, true),
               "a copy");
  tn_free(in);
  for (int i = 0; i < 4; i++) {
    unsigned char *other = conform_pinned_new(SIZE);
    conform_check(other != in, "memory of a pending copy was handed out");
    memset(other, 2, SIZE);
  }
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  conform_all(device, memory, 1, SIZE, "what the copy brought");
}

static void run_pending(void)
{
  try_pending(conform_device, conform_nowhere);
  if (tn_is_available("cpu"))
    try_pending(conform_device, tn_device_of("cpu"));
}

/* The use is noted for the device of the copy, whichever is current when the
 * memory is given back. */
static void run_pending_elsewhere(void)
{
  tn_with_device(conform_device)
    try_pending(conform_second(), conform_nowhere);
  tn_with_device(conform_second())
    try_pending(conform_device, conform_nowhere);
}

static void run_traffic(void)
{
  enum { SIZE = 40000 };
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_synchronize(conform_device);
  tn_with_stream(stream)
    for (int i = 1; i <= 100; i++) {
      unsigned char *in = conform_pinned_new(SIZE);
      memset(in, i, SIZE);
      conform_ok(tn_copy(memory, conform_device, in, conform_nowhere, SIZE,
                         true), "a copy");
      tn_free(in);
      unsigned char *out = conform_pinned_new(SIZE);
      memset(out, 0, SIZE);
      conform_ok(tn_copy(out, conform_nowhere, memory, conform_device, SIZE,
                         true), "a copy");
      conform_ok(tn_stream_synchronize(stream), "synchronising");
      for (int k = 0; k < SIZE; k++)
        conform_check(out[k] == i, "round %d: byte %d is %d", i, k, out[k]);
      tn_free(out);
    }
}

static void run_sizes(void)
{
  tn_memory_stats was, now;
  conform_ok(tn_host_memory_get_stats(&was), "statistics");
  void *small = conform_pinned_new(40960), *large =
      conform_pinned_new((5 << 20) + 1);
  conform_ok(tn_host_memory_get_stats(&now), "statistics");
  conform_check(now.allocated.all.current - was.allocated.all.current ==
                    65536 + (6 << 20),
                "40960 bytes are 65536, and 5 MiB and 1 byte are 6 MiB");
  tn_free(small);
  tn_free(large);
  conform_ok(tn_empty_host_cache(), "emptying the cache");
}

static void run_registered(void)
{
  enum { SIZE = 100000 };
  unsigned char *own = conform_host_new(SIZE);
  tn_status status = tn_host_register(own, SIZE);
  if (status == TN_UNSUPPORTED) {
    conform_error_has("host_register", "what is missing is named");
    conform_absent("alloc.host_register");
  }
  conform_ok(status, "registering");
  conform_check(tn_memory_is_pinned(own + SIZE - 1), "then it is pinned");
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  memset(own, 7, SIZE);
  conform_ok(tn_copy(memory, conform_device, own, conform_nowhere, SIZE,
                     true), "a copy from it");
  conform_ok(tn_host_unregister(own), "unregistering");
  memset(own, 8, SIZE);
  conform_all(conform_device, memory, 7, SIZE, "what the copy brought");
  conform_is(tn_host_unregister(own), TN_INVALID_ARGUMENT,
             "unregistering twice");
}

static int use_in_child(void *unused)
{
  (void)unused;
  return conform_works(tn_device_of(conform_text)) ? 0 : 1;
}

static void run_asking(void)
{
  char own[4] = { 0 };
  conform_check(!tn_memory_is_pinned(own), "the program's own is not pinned");
  conform_check(conform_fork(use_in_child, NULL, 0) == 0,
                "asking spoils no forked child");
}

#define P CONFORM_PINNED_BIT
static const conform_test tests[] = {
  { "P1", "ranges", CONFORM_MINIMAL, P, false,
    "memory is pinned from its first byte to its last", run_ranges },
  { "P1", "apart", CONFORM_MINIMAL, P | CONFORM_COPY_BIT, false,
    "the host uses pinned memory, and pieces are apart", run_apart },
  { "P1", "registered", CONFORM_MINIMAL, P, false,
    "memory of the program's own is registered", run_registered },
  { "P1", "asking", CONFORM_MINIMAL, P | CONFORM_PROCESS_BIT, true,
    "asking opens no device", run_asking },
  { "P2", "pending", CONFORM_STREAMS, P | CONFORM_STREAM_BIT, false,
    "what a queued copy uses is not handed out", run_pending },
  { "P2", "pending_elsewhere", CONFORM_STREAMS, P | CONFORM_STREAM_BIT |
    CONFORM_TWO_BIT, false,
    "nor if another device is current when it is freed",
    run_pending_elsewhere },
  { "P2", "traffic", CONFORM_MINIMAL, P | CONFORM_COPY_BIT |
    CONFORM_STREAM_BIT, false,
    "pinned memory that is freed early brings its bytes", run_traffic },
  { "P3", "sizes", CONFORM_MINIMAL, P, false,
    "small requests are rounded to powers of two", run_sizes },
};
CONFORM_SECTION(conform_pinned, tests);
