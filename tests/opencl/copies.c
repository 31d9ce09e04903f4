#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

/* Device memory, and beside it what it should hold. */
#define SIZE 20000
static tn_address memory;
static unsigned char model[SIZE], host[SIZE];

static uint64_t below(unsigned *seed, uint64_t bound)
{
  return (uint64_t)rand_r(seed) % bound;
}

static bool is_as_modelled(void)
{
  static unsigned char back[SIZE];
  return rig_read(back, memory, SIZE) == TN_OK && !memcmp(back, model, SIZE);
}

/* The two sides of a copy as the host sees them. */
typedef struct sides {
  unsigned char *dst;
  const unsigned char *src;
} sides;

static void copy_on_host(const tn_copy_desc *desc, sides at)
{
  for (uint64_t z = 0; z < desc->depth; z++)
    for (uint64_t y = 0; y < desc->rows; y++)
      memcpy(at.dst + z * desc->dst_plane_pitch + y * desc->dst_row_pitch,
             at.src + z * desc->src_plane_pitch + y * desc->src_row_pitch,
             desc->row_bytes);
}

/* Rows and planes that fit into half of SIZE on each side. */
static void choose_shape(tn_copy_desc *desc, unsigned *seed)
{
  desc->row_bytes = 1 + below(seed, 60);
  desc->rows = 1 + below(seed, 8);
  desc->depth = 1 + below(seed, 4);
  bool is_tight = below(seed, 4) == 0;
  desc->dst_row_pitch = desc->row_bytes + (is_tight ? 0 : below(seed, 50));
  desc->src_row_pitch = desc->row_bytes + (is_tight ? 0 : below(seed, 50));
  desc->dst_plane_pitch = desc->rows * desc->dst_row_pitch + below(seed, 99);
  desc->src_plane_pitch = desc->rows * desc->src_row_pitch + below(seed, 99);
}

/* One random copy of a kind, done on both; false if it was refused. */
static bool copy_once(int kind, unsigned *seed)
{
  static unsigned char wanted[SIZE];
  uint64_t low = below(seed, 3000), high = SIZE / 2 + below(seed, 3000);
  bool is_up = below(seed, 2);
  uint64_t dst = is_up ? high : low, src = is_up ? low : high;
  tn_copy_desc desc = rig_copy_desc(device, memory + dst, device,
                                    memory + src, 0);
  desc.kind = kind;
  choose_shape(&desc, seed);
  sides at = { model + dst, model + src };
  if (kind == TN_COPY_HOST_TO_DEVICE) {
    desc.src_device = NULL;
    desc.src = (uintptr_t)host + src;
    at.src = host + src;
  }
  if (kind == TN_COPY_DEVICE_TO_HOST) {
    memcpy(wanted, host, SIZE);
    desc.dst_device = NULL;
    desc.dst = (uintptr_t)host + dst;
    at.dst = wanted + dst;
  }
  if (rig_copy(&desc)) return false;
  copy_on_host(&desc, at);
  return kind != TN_COPY_DEVICE_TO_HOST || !memcmp(wanted, host, SIZE);
}

static void test_shapes(unsigned *seed)
{
  static const char *const names[] = { "host to device", "device to host",
                                       "device to device" };
  for (int kind = 0; kind < 3; kind++) {
    bool is_good = true;
    for (int i = 0; i < 40; i++) {
      for (int j = 0; j < SIZE; j += 7) host[j] = (unsigned char)(i + j);
      if (!copy_once(kind, seed)) is_good = false;
    }
    tap_ok(is_good && is_as_modelled(), "S2 copies of rows and planes, %s",
           names[kind]);
    if (!is_good) tap_note("%s", last_error);
  }
}

static void test_fills(unsigned *seed)
{
  bool is_good = true;
  for (int i = 0; i < 40; i++) {
    uint32_t width = 1u << below(seed, 4);
    uint64_t at = below(seed, 1000) * width, count = 1 + below(seed, 500);
    uint64_t pattern = below(seed, 1u << 30) * 0x987654321u;
    tn_fill_desc desc = { sizeof desc, 0, width, memory + at, count, pattern,
                          3 };
    is_good &= api->copy->fill(stream, device, &desc) == TN_OK;
    for (uint64_t j = 0; j < count * width; j++)
      model[at + j] = (unsigned char)(pattern >> 8 * (j % width));
  }
  tap_ok(is_good && is_as_modelled(), "fills with patterns of 1 to 8 bytes");
  tn_fill_desc desc = { sizeof desc, 0, 3, memory, 1, 0, 0 };
  tap_is_int(api->copy->fill(stream, device, &desc), TN_INVALID_ARGUMENT,
             "a pattern of 3 bytes is refused");
  tap_has(last_error, "1, 2, 4 or 8", "naming what is accepted");
  desc.pattern_bytes = 8;
  desc.count = UINT64_MAX / 4;
  tap_is_int(api->copy->fill(stream, device, &desc), TN_SIZE_OVERFLOW,
             "T6 a fill whose size overflows is refused");
}

static void test_refusals(void)
{
  tn_copy_desc desc = rig_copy_desc(device, memory, NULL, (uintptr_t)host, 9);
  desc.flags = 8;
  tap_is_int(rig_copy(&desc), TN_INVALID_ARGUMENT,
             "unknown copy flags are refused");
  desc.flags = 0;
  desc.rows = 1u << 31;
  desc.dst_row_pitch = desc.src_row_pitch = UINT64_MAX / 8;
  tap_is_int(rig_copy(&desc), TN_SIZE_OVERFLOW,
             "T6 a copy whose size overflows is refused");
  desc.rows = 0;
  tap_is_int(rig_copy(&desc), TN_OK, "T6 a copy of no rows does nothing");
  if (has_svm) return;
  desc = rig_copy_desc(device, memory + SIZE - 5, NULL, (uintptr_t)host, 9);
  tap_is_int(rig_copy(&desc), TN_INVALID_ARGUMENT,
             "a copy past the end of its memory is refused");
  tap_has(last_error, "not within", "saying so");
}

void test_copies(unsigned seed)
{
  memory = rig_alloc(TN_MEMORY_DEVICE, SIZE);
  for (int i = 0; i < SIZE; i++) model[i] = (unsigned char)(i * 31 >> 3);
  rig_write(memory, model, SIZE);
  tap_ok(is_as_modelled(), "S2 bytes come back as they went");
  test_shapes(&seed);
  test_fills(&seed);
  test_refusals();
  rig_free(TN_MEMORY_DEVICE, memory);
}
