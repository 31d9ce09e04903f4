/* Rules S2, S3 and T6: bytes arrive, whole and nowhere else. */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conformance/check.h"

enum { EDGE = 64 }; /* bytes on both sides that must stay */

static const size_t sizes[] = { 1, 2, 3, 7, 16, 63, 64, 255, 256, 1000, 4096,
                                4099, 65537, 262145, 1048579, 5000011 };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* A region on the device with known bytes, and what it should hold. */
typedef struct region {
  unsigned char *memory, *wanted, *got;
  size_t whole;
} region;

static region region_new(tn_device device, size_t size, uint32_t salt)
{
  region r = { .whole = size + 2 * EDGE };
  r.memory = conform_memory_new(device, r.whole);
  r.wanted = conform_host_new(r.whole);
  r.got = conform_host_new(r.whole);
  conform_draw(r.wanted, r.whole, salt);
  conform_send(device, r.memory, r.wanted, r.whole);
  return r;
}

static void region_check(const region *r, tn_device device, const char *what)
{
  conform_fetch(device, r->got, r->memory, r->whole);
  conform_same(r->got, r->wanted, r->whole, "%s of %zu bytes, with %d around",
               what, r->whole - 2 * EDGE, EDGE);
}

static void run_there(void)
{
  for (size_t i = 0; i < SIZES; i++) {
    size_t offset = EDGE - conform_random(16);
    region r = region_new(conform_device, sizes[i], 1);
    conform_draw(r.wanted + offset, sizes[i], 2);
    conform_send(conform_device, r.memory + offset, r.wanted + offset,
                 sizes[i]);
    region_check(&r, conform_device, "a copy to the device");
    tn_free(r.memory);
  }
}

static void run_back(void)
{
  for (size_t i = 0; i < SIZES; i++) {
    region r = region_new(conform_device, sizes[i], 3);
    unsigned char *host = conform_host_new(r.whole);
    size_t offset = EDGE - conform_random(16);
    memset(host, 0x5a, r.whole);
    memset(r.wanted, 0x5a, offset);
    memset(r.wanted + offset + sizes[i], 0x5a,
           r.whole - offset - sizes[i]);
    conform_fetch(conform_device, host + offset, r.memory + offset, sizes[i]);
    conform_same(host, r.wanted, r.whole,
                 "a copy to the host of %zu bytes, with %d around", sizes[i],
                 EDGE);
    tn_free(r.memory);
  }
}

static void run_within(void)
{
  for (size_t i = 0; i < SIZES; i++) {
    region from = region_new(conform_device, sizes[i], 4);
    region to = region_new(conform_device, sizes[i], 5);
    size_t offset = EDGE - conform_random(16);
    memcpy(to.wanted + offset, from.wanted + EDGE, sizes[i]);
    conform_ok(tn_copy(to.memory + offset, conform_device, from.memory + EDGE,
                       conform_device, sizes[i], true),
               "a copy within the device");
    region_check(&to, conform_device, "a copy within the device");
    region_check(&from, conform_device, "its source, after a copy");
    tn_free(from.memory);
    tn_free(to.memory);
  }
}

static void run_pinned(void)
{
  for (size_t i = 0; i < SIZES; i++) {
    region r = region_new(conform_device, sizes[i], 6);
    unsigned char *in = conform_pinned_new(sizes[i]);
    unsigned char *out = conform_pinned_new(sizes[i] + EDGE);
    tn_stream *stream = conform_stream_new(conform_device, 0);
    conform_draw(in, sizes[i], 7);
    memcpy(r.wanted + EDGE, in, sizes[i]);
    memset(out, 0x5a, sizes[i] + EDGE);
    tn_synchronize(conform_device);
    tn_with_stream(stream) {
      conform_ok(tn_copy(r.memory + EDGE, conform_device, in, conform_nowhere,
                         sizes[i], true), "a copy from pinned memory");
      conform_ok(tn_copy(out, conform_nowhere, r.memory + EDGE,
                         conform_device, sizes[i], true),
                 "a copy to pinned memory");
    }
    conform_ok(tn_stream_synchronize(stream), "synchronising");
    conform_same(out, in, sizes[i], "%zu bytes by pinned memory", sizes[i]);
    for (size_t k = 0; k < EDGE; k++)
      conform_check(out[sizes[i] + k] == 0x5a,
                    "a copy of %zu bytes wrote byte %zu", sizes[i],
                    sizes[i] + k);
    region_check(&r, conform_device, "a copy from pinned memory");
    tn_free(in);
    tn_free(out);
    tn_free(r.memory);
  }
}

static void run_fill(void)
{
  for (size_t i = 0; i < SIZES; i++) {
    region r = region_new(conform_device, sizes[i], 8);
    unsigned value = 1 + conform_random(255);
    size_t offset = EDGE - conform_random(16);
    memset(r.wanted + offset, (int)value, sizes[i]);
    conform_ok(tn_fill_bytes(r.memory + offset, conform_device, (int)value,
                             sizes[i]), "a fill of %zu bytes", sizes[i]);
    region_check(&r, conform_device, "a fill");
    tn_free(r.memory);
  }
  unsigned char byte, *memory = conform_memory_new(conform_device, 1);
  for (int value = 0; value < 256; value += 51) {
    conform_ok(tn_fill_bytes(memory, conform_device, value, 1), "a fill");
    conform_fetch(conform_device, &byte, memory, 1);
    conform_check(byte == value, "a byte filled with %d is %d", value, byte);
  }
  conform_is(tn_fill_bytes(memory, conform_device, 256, 1),
             TN_INVALID_ARGUMENT, "a fill with 256");
}

/* Host memory that is not pinned is taken at once. */
static void run_pageable(void)
{
  enum { SIZE = 300000 };
  unsigned char *sent = conform_host_new(SIZE), *wanted =
      conform_host_new(SIZE), *got = conform_host_new(SIZE);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  for (uint32_t i = 0; i < 8; i++) {
    conform_draw(sent, SIZE, i);
    memcpy(wanted, sent, SIZE);
    tn_with_stream(stream) {
      conform_ok(tn_copy(memory, conform_device, sent, conform_nowhere, SIZE,
                         true), "a non_blocking copy from pageable memory");
      memset(sent, 0xee, SIZE);
      conform_ok(tn_copy(got, conform_nowhere, memory, conform_device, SIZE,
                         true), "a non_blocking copy to pageable memory");
    }
    conform_same(got, wanted, SIZE, "pageable memory is taken at once, and "
                 "complete on return as a destination");
  }
}

/* A copy may wait for its stream, so another thread opens it. */
static void *open_later(void *gate)
{
  conform_linger();
  conform_gate_open(gate);
  return NULL;
}

static void run_pageable_busy(void)
{
  enum { SIZE = 100000 };
  unsigned char *sent = conform_host_new(SIZE), *wanted =
      conform_host_new(SIZE), *got = conform_host_new(SIZE);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  pthread_t thread;
  conform_draw(sent, SIZE, 11);
  memcpy(wanted, sent, SIZE);
  tn_synchronize(conform_device);
  conform_gate gate = conform_gate_shut(stream);
  if (pthread_create(&thread, NULL, open_later, &gate) != 0)
    conform_fail("no thread");
  tn_with_stream(stream)
    conform_ok(tn_copy(memory, conform_device, sent, conform_nowhere, SIZE,
                       true), "a copy from pageable memory");
  memset(sent, 0xee, SIZE);
  pthread_join(thread, NULL);
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  conform_fetch(conform_device, got, memory, SIZE);
  conform_same(got, wanted, SIZE, "pageable memory is taken at once by a "
               "stream that is busy");
}

/* A blocking read waits for what its stream was given before. */
static void run_blocking(void)
{
  enum { SIZE = 1 << 20 };
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_synchronize(conform_device);
  tn_with_stream(stream)
    for (int i = 1; i <= 20; i++) {
      conform_ok(tn_fill_bytes(memory, conform_device, i, SIZE), "a fill");
      conform_all(conform_device, memory, (unsigned char)i, SIZE,
                  "a blocking copy after fill %d", i);
      conform_is(tn_stream_query(stream), TN_OK,
                 "after a blocking copy the stream is idle");
    }
}

static void run_empty(void)
{
  char bytes[16] = { 0 };
  unsigned char *memory = conform_memory_new(conform_device, 16);
  conform_ok(tn_copy(memory, conform_device, bytes, conform_nowhere, 0, false),
             "0 bytes to the device");
  conform_ok(tn_copy(NULL, conform_device, NULL, conform_nowhere, 0, false),
             "0 bytes from nowhere to nowhere");
  conform_ok(tn_fill_bytes(NULL, conform_device, 1, 0), "a fill of 0 bytes");
  conform_check(!tn_malloc(conform_device, 0) && tn_last_status() == TN_OK,
                "memory of 0 bytes is NULL, which is no failure");
  conform_is(tn_copy(NULL, conform_device, bytes, conform_nowhere, 4, false),
             TN_INVALID_ARGUMENT, "a copy to NULL");
  char *last = (char *)(UINTPTR_MAX - 7);
  conform_is(tn_copy(bytes, conform_nowhere, last, conform_device, 16, false),
             TN_SIZE_OVERFLOW, "a range that wraps");
  conform_is(tn_copy(bytes, conform_nowhere, memory, conform_device,
                     (size_t)1 << 62, false),
             TN_SIZE_OVERFLOW, "a range larger than any memory");
}

/* Between two devices, with known bytes around. */
static void send_across(tn_device to, tn_device from, size_t size,
                        const char *way)
{
  region source = region_new(from, size, 21), target = region_new(to, size,
                                                                  22);
  memcpy(target.wanted + EDGE, source.wanted + EDGE, size);
  conform_ok(tn_copy(target.memory + EDGE, to, source.memory + EDGE, from,
                     size, true), "a copy of %zu bytes %s", size, way);
  region_check(&target, to, way);
  region_check(&source, from, "its source, after a copy");
  tn_free(source.memory);
  tn_free(target.memory);
}

static void run_across(void)
{
  tn_device second = conform_second();
  char path[256];
  for (size_t i = 0; i < SIZES; i++) {
    send_across(second, conform_device, sizes[i], "a copy to another device");
    send_across(conform_device, second, sizes[i],
                "a copy from another device");
  }
  conform_check(tn_copy_path(second, conform_device, path, sizeof path) > 0,
                "the way of copies can be asked");
  conform_check(strncmp(path, "peer", 4) == 0 ||
                    strncmp(path, "staged", 6) == 0,
                "the way is \"%s\", neither peer nor staged", path);
}

/* A backend that offers what goes wrong is found out. */
static void run_peers(void)
{
  tn_device second = conform_second();
  char path[256];
  if (!tn_can_access_peer(conform_device, second))
    conform_absent("copy.peer_query that says yes");
  conform_check(tn_copy_path(second, conform_device, path, sizeof path) > 0,
                "the way of copies");
  conform_check(!strstr(path, "damaged"),
                "peer access is offered, and copies arrive damaged");
  conform_check(strncmp(path, "peer", 4) == 0,
                "peer access is offered, and copies are \"%s\"", path);
}

static void run_peer_access(void)
{
  tn_device second = conform_second(), first = conform_device;
  if (!tn_can_access_peer(first, second))
    conform_absent("copy.peer_query that says yes");
  tn_status status = tn_enable_peer_access(first, second);
  if (status == TN_UNSUPPORTED) {
    conform_error_has("peer_enable", "what is missing is named");
    conform_absent("copy.peer_enable");
  }
  conform_ok(status, "peer access");
  conform_ok(tn_enable_peer_access(first, second), "enabling twice");
  conform_check(tn_peer_access_enabled(first, second), "it is enabled");
  conform_ok(tn_disable_peer_access(first, second), "disabling");
  conform_is(tn_disable_peer_access(first, second), TN_INVALID_ARGUMENT,
             "disabling what is not enabled");
}

/* Ordered after both devices' current streams, which wait for it. */
static void run_across_order(void)
{
  enum { SIZE = 3000000 };
  tn_device second = conform_second(), first = conform_device;
  unsigned char *one = conform_memory_new(first, SIZE);
  unsigned char *two = conform_memory_new(second, SIZE);
  tn_stream *stream = conform_stream_new(first, 0);
  tn_stream *other = conform_stream_new(second, 0);
  tn_synchronize(first);
  tn_synchronize(second);
  for (int i = 1; i <= 10; i++) {
    unsigned char value = (unsigned char)(i * 3);
    tn_with_stream(stream) tn_with_stream(other) {
      conform_ok(tn_fill_bytes(two, second, 255, SIZE), "a fill");
      conform_ok(tn_fill_bytes(one, first, value, SIZE), "a fill");
      conform_ok(tn_copy(two, second, one, first, SIZE, true), "a copy");
      conform_ok(tn_fill_bytes(one, first, 254, SIZE), "a fill");
      conform_all(second, two, value, SIZE, "round %d: what the copy brought",
                  i);
      conform_all(first, one, 254, SIZE, "round %d: its source later", i);
    }
  }
}

/* The copy waits for a busy stream of the destination. */
static void run_across_busy(void)
{
  enum { SIZE = 70000 };
  tn_device second = conform_second(), first = conform_device;
  unsigned char *one = conform_memory_new(first, SIZE);
  unsigned char *two = conform_memory_new(second, SIZE);
  tn_stream *stream = conform_stream_new(first, 0);
  tn_stream *other = conform_stream_new(second, 0);
  char path[256];
  tn_copy_path(second, first, path, sizeof path);
  if (strncmp(path, "peer", 4) != 0)
    conform_absent("direct copies between devices");
  tn_synchronize(first);
  tn_synchronize(second);
  tn_with_stream(stream) tn_with_stream(other) {
    conform_gate gate = conform_gate_shut(other);
    conform_ok(tn_fill_bytes(two, second, 9, SIZE), "a fill");
    conform_ok(tn_fill_bytes(one, first, 5, SIZE), "a fill");
    conform_ok(tn_copy(two, second, one, first, SIZE, true), "a copy");
    conform_ok(tn_fill_bytes(one, first, 6, SIZE), "a fill behind it");
    conform_linger();
    conform_is(tn_stream_query(stream), TN_NOT_READY,
               "the source's stream waits for the copy");
    conform_gate_open(&gate);
    conform_all(second, two, 5, SIZE, "what the copy brought");
    conform_all(first, one, 6, SIZE, "its source later");
  }
}

/* By way of a cpu device. */
static void run_cpu(void)
{
  tn_device cpu = tn_device_of("cpu:0");
  if (cpu.backend <= 0) conform_absent("the cpu backend");
  if (cpu.backend == conform_device.backend)
    conform_absent("another backend than cpu");
  for (size_t i = 0; i < SIZES; i++) {
    send_across(cpu, conform_device, sizes[i], "a copy to cpu");
    send_across(conform_device, cpu, sizes[i], "a copy from cpu");
  }
}

#define C CONFORM_COPY_BIT
#define T CONFORM_TWO_BIT
static const conform_test tests[] = {
  { "S2", "there", CONFORM_MINIMAL, C, false,
    "copies to the device write their bytes and no others", run_there },
  { "S2", "back", CONFORM_MINIMAL, C, false,
    "copies to the host write their bytes and no others", run_back },
  { "S2", "within", CONFORM_MINIMAL, C, false,
    "copies within the device write their bytes and no others", run_within },
  { "S2", "pinned", CONFORM_MINIMAL, C | CONFORM_PINNED_BIT, false,
    "copies by pinned memory, in order", run_pinned },
  { "S2", "fill", CONFORM_MINIMAL, C, false,
    "fills write their bytes and no others", run_fill },
  { "S2", "pageable", CONFORM_MINIMAL, C, false,
    "pageable memory is done with when the call returns", run_pageable },
  { "S2", "pageable_busy", CONFORM_STREAMS, C | CONFORM_STREAM_BIT, false,
    "also where the stream was busy", run_pageable_busy },
  { "S2", "blocking", CONFORM_MINIMAL, C | CONFORM_STREAM_BIT, false,
    "a blocking copy sees what was queued before", run_blocking },
  { "T6", "empty", CONFORM_MINIMAL, C | CONFORM_MEMORY_BIT, false,
    "nothing is copied from nowhere, and sizes do not wrap", run_empty },
  { "S3", "across", CONFORM_MINIMAL, C | T, false,
    "copies between devices write their bytes and no others", run_across },
  { "S3", "peers", CONFORM_MINIMAL, C | T, false,
    "peers that are offered can be relied on", run_peers },
  { "S3", "peer_access", CONFORM_MINIMAL, T, false,
    "peer access is switched on and off", run_peer_access },
  { "S3", "order", CONFORM_MINIMAL, C | T | CONFORM_STREAM_BIT, false,
    "a copy between devices is ordered on both streams", run_across_order },
  { "S3", "busy", CONFORM_STREAMS, C | T | CONFORM_STREAM_BIT, false,
    "it waits for a busy stream of the destination", run_across_busy },
  { "S3", "cpu", CONFORM_MINIMAL, C, false,
    "copies to and from cpu devices", run_cpu },
};
CONFORM_SECTION(conform_copies, tests);
