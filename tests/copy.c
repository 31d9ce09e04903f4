/* Copies between the host and a device, within it and between two (rules S1,
 * S2, S3, T6, T7, R21, R23). */
#include "config.h"

#include "tests/test_device.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device, second;

static void draw(unsigned char *bytes, size_t size, unsigned seed)
{
  for (size_t i = 0; i < size; i++) {
    seed = seed * 1103515245u + 12345u;
    bytes[i] = (unsigned char)(seed >> 16);
  }
}

static tn_status to_device(void *to, const void *from, size_t size)
{
  return tn_copy(to, device, from, test_host, size, false);
}

static tn_status to_host(void *to, const void *from, size_t size)
{
  return tn_copy(to, test_host, from, device, size, false);
}

/* There and back, for awkward sizes and offsets. */
static void test_there_and_back(void)
{
  static const size_t sizes[] = { 1, 3, 64, 511, 4096, 65537, 300000,
                                  (5 << 20) + 7 };
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (int i = 0; i < SIZES; i++) {
    size_t size = sizes[i], offset = (size_t)i;
    unsigned char *sent = malloc(size), *got = malloc(size + 1);
    char *memory = tn_malloc(device, size + 16);
    draw(sent, size, (unsigned)i + 1);
    got[size] = 42;
    tn_status there = to_device(memory + offset, sent, size);
    tn_status back = to_host(got, memory + offset, size);
    tap_ok(there == TN_OK && back == TN_OK && memcmp(sent, got, size) == 0 &&
               got[size] == 42,
           "S2 %zu bytes to the device and back, offset %zu", size, offset);
    tn_free(memory);
    free(sent);
    free(got);
  }
}

static void test_non_blocking(void)
{
  enum { SIZE = 100000 };
  unsigned char sent[SIZE], got[SIZE];
  unsigned char *in = tn_malloc_pinned(SIZE), *out = tn_malloc_pinned(SIZE);
  char *memory = tn_malloc(device, SIZE), *other = tn_malloc(device, SIZE);
  tn_stream *stream = tn_stream_new(device, 0);
  draw(sent, SIZE, 5);
  if (!in || !out) {
    tap_ok(false, "pinned memory: %s", tn_error_message());
    return;
  }
  memcpy(in, sent, SIZE);
  memset(out, 0, SIZE);
  tn_with_stream(stream) {
    tn_copy(memory, device, in, test_host, SIZE, true);
    tn_copy(other, device, memory, device, SIZE, true);
    tn_copy(out, test_host, other, device, SIZE, true);
  }
  tap_is_int(tn_stream_synchronize(stream), TN_OK,
             "S2 pinned copies wait for nobody");
  tap_ok(memcmp(out, sent, SIZE) == 0, "S1 and run in order");
  tn_with_stream(stream) {
    tn_copy(memory, device, sent, test_host, SIZE, true);
    memset(sent, 7, SIZE);
    tn_copy(got, test_host, memory, device, SIZE, true);
  }
  draw(out, SIZE, 5);
  tap_ok(memcmp(got, out, SIZE) == 0, "S2 pageable memory is taken at once "
         "as a source, and complete on return as a destination");
  tn_free(in);
  tn_free(out);
  tn_free(memory);
  tn_free(other);
  tn_stream_release(stream);
}

/* memmove is the reference: the source is copied first. */
static void shift(size_t size, size_t to, size_t from, size_t count)
{
  unsigned char *wanted = malloc(size), *got = malloc(size);
  char *memory = tn_malloc(device, size);
  draw(wanted, size, (unsigned)size);
  to_device(memory, wanted, size);
  memmove(wanted + to, wanted + from, count);
  tn_status status = tn_copy(memory + to, device, memory + from, device,
                             count, true);
  to_host(got, memory, size);
  tap_ok(status == TN_OK && memcmp(wanted, got, size) == 0,
         "R23 %zu bytes from %zu to %zu of themselves", count, from, to);
  tn_free(memory);
  free(wanted);
  free(got);
}

static void test_onto_itself(void)
{
  tn_stream *streams[] = { tn_default_stream(device),
                           tn_stream_new(device, 0) };
  for (int i = 0; i < 2; i++)
    tn_with_stream(streams[i]) {
      shift(10, 1, 0, 9);
      shift(10, 0, 1, 9);
      shift(100000, 512, 0, 90000);
      shift(100000, 0, 7, 99000);
      shift(1 << 20, 4096, 4096, 1 << 19);
      shift(3 << 20, 1 << 20, 1, 2 << 20);
    }
  shift((size_t)200 << 20, 1000, 0, (size_t)199 << 20);
}

static void test_refusals(void)
{
  char bytes[16] = { 0 }, *memory = tn_malloc(device, 16);
  tap_is_int(to_device(memory, bytes, 0), TN_OK, "R21 0 bytes");
  tap_is_int(tn_copy(NULL, device, NULL, test_host, 0, false), TN_OK,
             "R21 from nowhere to nowhere");
  tap_is_int(to_device(NULL, bytes, 16), TN_INVALID_ARGUMENT,
             "T6 no destination");
  tap_has(tn_error_message(), "destination is NULL", "T6 and says so");
  tap_is_int(to_device(memory, NULL, 16), TN_INVALID_ARGUMENT,
             "T6 no source");
  char *last = (char *)(UINTPTR_MAX - 7);
  tap_is_int(to_host(bytes, last, 16), TN_SIZE_OVERFLOW,
             "R20 a range that wraps");
  tap_is_int(to_host(bytes, memory, (size_t)1 << 62), TN_SIZE_OVERFLOW,
             "R20 more than any memory has");
  tn_device invalid = { -1, -1 };
  tap_is_int(tn_copy(memory, invalid, bytes, test_host, 16, false),
             TN_INVALID_ARGUMENT, "D1 the invalid device");
  tn_free(memory);
}

static void test_host_only(void)
{
  char bytes[10] = "012345678";
  tap_is_int(tn_copy(bytes + 1, test_host, bytes, test_host, 8, false), TN_OK,
             "S2 a copy on the host");
  tap_is_text(bytes, "001234567", "T7 behaves as if the source were copied");
}

/* With work of both devices' streams before and after. */
static void test_two_devices(void)
{
  enum { SIZE = 5000000 };
  if (second.backend == 0) {
    tap_skip("S3 there is one device");
    return;
  }
  unsigned char *sent = malloc(SIZE), *got = malloc(SIZE);
  char *one = tn_malloc(device, SIZE), *two = tn_malloc(second, SIZE);
  tn_stream *first_stream = tn_stream_new(device, 0);
  tn_stream *second_stream = tn_stream_new(second, 0);
  draw(sent, SIZE, 9);
  tap_ok(one && two, "A131 memory of two devices");
  tn_with_stream(first_stream) tn_with_stream(second_stream) {
    tn_fill_bytes(two, second, 1, SIZE);
    to_device(one, sent, SIZE);
    tap_is_int(tn_copy(two, second, one, device, SIZE, true), TN_OK,
               "S3 a copy between two devices");
    tn_fill_bytes(one, device, 2, SIZE);
    tn_copy(got, test_host, two, second, SIZE, false);
    tn_stream_synchronize(first_stream);
  }
  tap_ok(memcmp(sent, got, SIZE) == 0,
         "A183 comes after the streams of both, which wait for it");
  tn_copy(one, device, two, second, SIZE, false);
  memset(got, 0, SIZE);
  to_host(got, one, SIZE);
  tap_ok(memcmp(sent, got, SIZE) == 0, "S3 and back");
  char path[256];
  tap_ok(tn_copy_path(second, device, path, sizeof path) > 0,
         "S3 the way is known: %s", path);
  tap_ok(strncmp(path, "peer", 4) == 0 || strncmp(path, "staged", 6) == 0,
         "S3 direct or staged");
  tn_free(one);
  tn_free(two);
  free(sent);
  free(got);
}

/* Between the device and a cpu device's memory. */
static void test_cpu(void)
{
  enum { SIZE = 300000 };
  tn_device cpu = tn_device_of("cpu:0");
  unsigned char *block = tn_malloc(cpu, SIZE), *back = tn_malloc(cpu, SIZE);
  if (!block) {
    tap_skip("S3 there is no cpu backend: %s", tn_error_message());
    return;
  }
  char *memory = tn_malloc(device, SIZE);
  tn_stream *stream = tn_stream_new(cpu, 0);
  draw(block, SIZE, 3);
  tn_with_stream(stream) {
    tap_is_int(tn_copy(memory, device, block, cpu, SIZE, false), TN_OK,
               "S3 from cpu");
    tn_fill_bytes(back, cpu, 0, SIZE);
    tap_is_int(tn_copy(back, cpu, memory, device, SIZE, false), TN_OK,
               "S3 to cpu");
  }
  tap_ok(memcmp(block, back, SIZE) == 0,
         "S2 complete on return, after cpu's own stream");
  tn_free(block);
  tn_free(back);
  tn_free(memory);
}

static void test_gated(void)
{
  enum { SIZE = 4096 };
  test_gate gate;
  tn_stream *stream = tn_stream_new(device, 0);
  /* Pinned by its own backend: a driver may take the bytes of other memory at
   * once. */
  tn_set_default_device(device);
  unsigned char *pinned = tn_malloc_pinned(SIZE);
  char *memory = tn_malloc(device, SIZE);
  if (!test_gate_shut(&gate, stream)) {
    tap_skip("S2 the backend has no host functions to keep a stream busy");
    return;
  }
  memset(pinned, 1, SIZE);
  tn_with_stream(stream)
    tap_is_int(tn_copy(memory, device, pinned, test_host, SIZE, true), TN_OK,
               "S2 a pinned copy behind other work returns");
  tap_is_int(tn_stream_query(stream), TN_NOT_READY, "A180 and is not done");
  memset(pinned, 2, SIZE);
  test_gate_open(&gate);
  unsigned char got[SIZE];
  tn_with_stream(stream) to_host(got, memory, SIZE);
  tap_is_int(got[0], 2, "R50 the memory is read when its turn comes");
  tap_is_int(tn_stream_query(stream), TN_OK,
             "A180 after a blocking copy the stream is idle");
  tn_free(memory);
  tn_free(pinned);
}

int main(void)
{
  device = test_device();
  second = test_second_device();
  test_there_and_back();
  test_non_blocking();
  test_onto_itself();
  test_refusals();
  test_host_only();
  test_two_devices();
  test_cpu();
  test_gated();
  return tap_done();
}
