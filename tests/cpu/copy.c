/* Copies and fills of the cpu backend against the plainest loops. */
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

#define MIB (UINT64_C(1) << 20)

static tn_backend_device *device;
static tn_backend_stream *inline_stream, *stream;
static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit)
{
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (seed >> 33) % limit;
}

static void fill_random(uint8_t *memory, uint64_t bytes)
{
  for (uint64_t i = 0; i < bytes; i++)
    memory[i] = (uint8_t)(i * 131 + (i >> 8) * 7 + (i >> 16));
}

static tn_copy_desc plain(void *dst, const void *src, uint64_t bytes)
{
  return (tn_copy_desc){
    .struct_size = sizeof(tn_copy_desc), .kind = TN_COPY_DEVICE_TO_DEVICE,
    .dst_device = device, .src_device = device,
    .dst = PLUGIN_POINTER(dst), .src = PLUGIN_POINTER(src),
    .row_bytes = bytes, .rows = 1, .depth = 1,
  };
}

static tn_status copy(tn_backend_stream *on, const tn_copy_desc *desc)
{
  plugin_forget();
  tn_status status = plugin->copy->copy(on, device, desc);
  plugin_synchronize(device, on);
  return status;
}

/* Plain copies of a size at odd addresses; what lies around stays. */
static void check_plain(tn_backend_stream *on, uint64_t bytes)
{
  uint8_t *src = malloc(bytes + 256), *dst = malloc(bytes + 256);
  fill_random(src, bytes + 256);
  memset(dst, 0xee, bytes + 256);
  uint64_t from = random_below(128), to = 1 + random_below(127);
  tn_copy_desc desc = plain(dst + to, src + from, bytes);
  tn_status status = copy(on, &desc);
  tap_ok(!status && memcmp(dst + to, src + from, bytes) == 0 &&
           dst[to - 1] == 0xee && dst[to + bytes] == 0xee,
         "S2: %llu bytes, %s", (unsigned long long)bytes,
         on == stream ? "queued" : "inline");
  free(src);
  free(dst);
}

static void reference_copy(uint8_t *dst, const uint8_t *src,
                           const tn_copy_desc *desc)
{
  for (uint64_t plane = 0; plane < desc->depth; plane++)
    for (uint64_t row = 0; row < desc->rows; row++)
      memcpy(dst + plane * desc->dst_plane_pitch + row * desc->dst_row_pitch,
             src + plane * desc->src_plane_pitch + row * desc->src_row_pitch,
             desc->row_bytes);
}

static void check_rows(tn_backend_stream *on, uint64_t row, uint64_t rows,
                       uint64_t depth)
{
  uint64_t gap = random_below(3) * 5;
  uint64_t dst_row = row + random_below(2) * gap, src_row = row + gap;
  uint64_t dst_plane = dst_row * rows + gap, src_plane = src_row * rows;
  uint64_t bytes = (row + 16) * rows * depth + 16 * depth + 64;
  uint8_t *src = malloc(bytes), *dst = calloc(1, bytes);
  uint8_t *wanted = calloc(1, bytes);
  fill_random(src, bytes);
  tn_copy_desc desc = plain(dst, src, row);
  desc.rows = rows;
  desc.depth = depth;
  desc.dst_row_pitch = dst_row;
  desc.dst_plane_pitch = dst_plane;
  desc.src_row_pitch = src_row;
  desc.src_plane_pitch = src_plane;
  reference_copy(wanted, src, &desc);
  tn_status status = copy(on, &desc);
  tap_ok(!status && memcmp(dst, wanted, bytes) == 0,
         "S2: %llu x %llu x %llu bytes, gaps of %llu",
         (unsigned long long)row, (unsigned long long)rows,
         (unsigned long long)depth, (unsigned long long)gap);
  free(src);
  free(dst);
  free(wanted);
}

static void test_sizes(void)
{
  static const uint64_t sizes[] = { 1, 63, 64, 65, 4097, MIB - 1, MIB + 3,
                                    5 * MIB, 40 * MIB + 17 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    check_plain(inline_stream, sizes[i]);
    check_plain(stream, sizes[i]);
  }
  for (int i = 0; i < 6; i++) {
    check_rows(inline_stream, 1 + random_below(200), 1 + random_below(30),
               1 + random_below(9));
    check_rows(stream, 1000 + random_below(9000), 100, 1 + random_below(4));
  }
  check_rows(stream, 3, 1, 7);
  check_rows(inline_stream, 3, 7, 1);
}

static void test_refusals(void)
{
  uint8_t byte[2] = { 1, 2 };
  tn_copy_desc desc = plain(byte, byte + 1, 1);
  desc.flags = 8;
  tap_is_int(copy(stream, &desc), TN_INVALID_ARGUMENT,
             "unknown flags of a copy are refused");
  desc = plain(byte, byte + 1, UINT64_MAX);
  tap_is_int(copy(stream, &desc), TN_SIZE_OVERFLOW,
             "T6: a range past the address space is refused");
  desc = plain(byte, byte + 1, 1);
  desc.rows = UINT64_C(1) << 33;
  desc.depth = UINT64_C(1) << 33;
  tap_is_int(copy(stream, &desc), TN_SIZE_OVERFLOW,
             "T6: more rows than can be counted are refused");
  desc = plain(byte, byte + 1, 1);
  desc.rows = 2;
  tap_is_int(copy(stream, &desc), TN_SIZE_OVERFLOW,
             "T6: rows on top of each other are refused");
  desc = plain(byte, byte + 1, 0);
  tap_is_int(copy(stream, &desc), TN_OK, "T6: nothing is copied for 0 bytes");
  tap_is_int(byte[0], 1, "T6: and nothing changes");
}

/* --- host memory on a busy stream --- */

static sem_t gate;

static void gate_pass(void *argument)
{
  (void)argument;
  sem_wait(&gate);
}

static void gate_put(tn_backend_stream *on)
{
  plugin->stream->host_function(on, gate_pass, NULL, 0);
}

static void test_pageable(void)
{
  const uint64_t bytes = 3 * MIB;
  uint8_t *host = malloc(bytes), *memory = plugin_alloc(device, bytes);
  uint8_t *wanted = malloc(bytes), *back = calloc(1, bytes);
  fill_random(host, bytes);
  memcpy(wanted, host, bytes);
  memset(memory, 0, bytes);
  tn_copy_desc desc = plain(memory, host, bytes);
  desc.kind = TN_COPY_HOST_TO_DEVICE;
  desc.src_device = NULL;
  gate_put(stream);
  tap_is_int(plugin->copy->copy(stream, device, &desc), TN_OK,
             "S2: a pageable source is taken while the stream is busy");
  memset(host, 0, bytes);
  tap_is_int(memory[5], 0, "S2: and not written before its turn");
  desc = plain(back, memory, bytes);
  desc.kind = TN_COPY_DEVICE_TO_HOST;
  desc.dst_device = NULL;
  sem_post(&gate);
  tap_is_int(plugin->copy->copy(stream, device, &desc), TN_OK,
             "S2: a pageable destination");
  tap_ok(memcmp(back, wanted, bytes) == 0,
         "S2: is complete on return, with what the source held");
  plugin_free(device, memory, bytes);
  free(host);
  free(wanted);
  free(back);
}

static void test_pinned(void)
{
  uint8_t *memory = plugin_alloc(device, 64), host[64] = { 1 };
  memset(memory, 0, 64);
  tn_copy_desc desc = plain(memory, host, 64);
  desc.kind = TN_COPY_HOST_TO_DEVICE;
  desc.flags = TN_COPY_PINNED;
  gate_put(stream);
  tap_is_int(plugin->copy->copy(stream, device, &desc), TN_OK,
             "P2: a pinned source is queued");
  host[0] = 2;
  sem_post(&gate);
  plugin_synchronize(device, stream);
  tap_is_int(memory[0], 2, "P2: and read when it is its turn");
  plugin_free(device, memory, 64);
}

/* --- fill --- */

static void check_fill(tn_backend_stream *on, uint32_t size, uint64_t count,
                       uint64_t pattern)
{
  uint64_t bytes = size * count;
  uint8_t *memory = plugin_alloc(device, bytes + 16);
  memset(memory, 0xee, bytes + 16);
  tn_fill_desc desc = { .struct_size = sizeof desc, .pattern_bytes = size,
                        .dst = PLUGIN_POINTER(memory + 8), .count = count,
                        .pattern = pattern };
  tn_status status = plugin->copy->fill(on, device, &desc);
  plugin_synchronize(device, on);
  bool same = !status && memory[7] == 0xee && memory[8 + bytes] == 0xee;
  for (uint64_t i = 0; i < bytes && same; i++)
    same = memory[8 + i] == (uint8_t)(pattern >> 8 * (i % size));
  tap_ok(same, "S1: %llu patterns of %u bytes", (unsigned long long)count,
         size);
  plugin_free(device, memory, bytes + 16);
}

static void test_fill(void)
{
  const uint64_t pattern = UINT64_C(0x1122334455667788);
  for (uint32_t size = 1; size <= 8; size *= 2) {
    static const uint64_t counts[] = { 1, 7, 9, 1001, 300000, 3000001 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
      check_fill(i % 2 ? stream : inline_stream, size, counts[i], pattern);
  }
  check_fill(stream, 8, 3 * MIB, pattern);
  check_fill(stream, 4, 2 * MIB, 0);
  tn_fill_desc desc = { .struct_size = sizeof desc, .pattern_bytes = 3,
                        .dst = 4096, .count = 1 };
  tap_is_int(plugin->copy->fill(stream, device, &desc), TN_INVALID_ARGUMENT,
             "a pattern of 3 bytes is refused");
  desc.pattern_bytes = 8;
  desc.dst = 4;
  tap_is_int(plugin->copy->fill(stream, device, &desc), TN_INVALID_ARGUMENT,
             "an address that is not aligned to it is refused");
  desc.dst = 8;
  desc.count = UINT64_MAX / 4;
  tap_is_int(plugin->copy->fill(stream, device, &desc), TN_SIZE_OVERFLOW,
             "T6: too many patterns are refused");
}

static void test_peers(void)
{
  int possible = 0;
  tap_is_int(plugin->copy->peer_query(device, device, &possible), TN_OK,
             "S3: whether cpu devices are peers");
  tap_is_int(possible, 1, "S3: they are");
}

int main(int count, char **arguments)
{
  if (count > 1) seed = strtoull(arguments[1], NULL, 10);
  tap_note("seed %llu", (unsigned long long)seed);
  sem_init(&gate, 0, 0);
  plugin_load();
  device = plugin_device();
  inline_stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  stream = plugin_stream(device, 0, 0);
  if (device && inline_stream && stream) {
    test_sizes();
    test_refusals();
    test_pageable();
    test_pinned();
    test_fill();
    test_peers();
  }
  plugin->stream->destroy(stream);
  plugin->stream->destroy(inline_stream);
  plugin->device->close(device);
  plugin_unload();
  return tap_done();
}
