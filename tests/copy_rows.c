/* Copies of rows and planes, which tensors will ask for: on backends that take
 * them and those that do not, within a device, onto themselves, staged. */
#include "config.h"

#include "tests/manual_device.h"

#include <stdlib.h>
#include <string.h>

#include "core/copy/copy_job.h"

enum { SIZE = 40000, ROUNDS = 200 };

static unsigned seed = 1;

static uint64_t draw(uint64_t below)
{
  seed = seed * 1103515245u + 12345u;
  return (seed >> 8) % below;
}

/* Rows do not meet each other, nor do planes. */
static tn_copy_shape draw_shape(void)
{
  tn_copy_shape s = { .row_bytes = draw(40) + 1, .rows = draw(9) + 1,
                      .depth = draw(5) + 1 };
  s.dst_row_pitch = s.row_bytes + draw(9);
  s.src_row_pitch = s.row_bytes + draw(9);
  s.dst_plane_pitch = s.rows * s.dst_row_pitch + draw(9);
  s.src_plane_pitch = s.rows * s.src_row_pitch + draw(9);
  return s;
}

/* What a copy comes to: all is read before anything is written. */
static void model(const tn_copy_shape *s, unsigned char *dst,
                  const unsigned char *src)
{
  unsigned char read[SIZE], *at = read;
  for (int step = 0; step < 2; step++, at = read)
    for (uint64_t plane = 0; plane < s->depth; plane++)
      for (uint64_t row = 0; row < s->rows; row++, at += s->row_bytes) {
        if (step == 0)
          memcpy(at, src + plane * s->src_plane_pitch + row * s->src_row_pitch,
                 s->row_bytes);
        else
          memcpy(dst + plane * s->dst_plane_pitch + row * s->dst_row_pitch, at,
                 s->row_bytes);
      }
}

static tn_copy_side side_of(tn_device device, const void *address)
{
  tn_copy_side side = { .address = (tn_address)(uintptr_t)address };
  if (device.backend == 0) return side;
  if (tn_device_acquire(device, &side.state) != TN_OK) abort();
  side.stream = tn_stream_current_of(side.state);
  return side;
}

static tn_status run(const tn_copy_shape *shape, tn_device dst_device,
                     void *dst, tn_device src_device, const void *src)
{
  tn_copy_job job = {
    .dst = side_of(dst_device, dst),
    .src = side_of(src_device, src),
    .shape = *shape,
    .non_blocking = draw(2),
  };
  tn_device_state *state = job.dst.state ? job.dst.state : job.src.state;
  tn_status status = state ? tn_enter(state) : TN_OK;
  if (status != TN_OK) return status;
  status = tn_copy_run(&job);
  if (state) tn_leave();
  return status;
}

typedef struct memory {
  tn_device device;
  unsigned char *real, model[SIZE];
} memory;

static void make(memory *m, tn_device device)
{
  m->device = device;
  m->real = device.backend ? tn_malloc(device, SIZE) : malloc(SIZE);
  if (!m->real) abort();
  for (int i = 0; i < SIZE; i++) m->model[i] = (unsigned char)draw(256);
  tn_copy(m->real, device, m->model, manual_host, SIZE, false);
}

static bool is_same(const memory *m)
{
  unsigned char got[SIZE];
  tn_copy(got, manual_host, m->real, m->device, SIZE, false);
  return memcmp(got, m->model, SIZE) == 0;
}

static void unmake(memory *m)
{
  if (m->device.backend) tn_free(m->real);
  else free(m->real);
}

/* Random copies between two memories, or within one. */
static void between(memory *to, memory *from, const char *what)
{
  bool is_right = true;
  for (int i = 0; i < ROUNDS && is_right; i++) {
    tn_copy_shape shape = draw_shape();
    uint64_t near = to == from ? 400 : SIZE / 2;
    uint64_t dst = draw(near), src = draw(near);
    tn_status status = run(&shape, to->device, to->real + dst, from->device,
                           from->real + src);
    model(&shape, to->model + dst, from->model + src);
    is_right = status == TN_OK && is_same(to);
  }
  tap_ok(is_right, "S2 T7 %d shapes %s", ROUNDS, what);
}

static void test_all(void)
{
  static memory host, other, first, second;
  tap_note("seed %u", seed);
  make(&host, manual_host);
  make(&other, manual_host);
  make(&first, manual_first);
  make(&second, manual_second);
  between(&other, &host, "on the host");
  between(&host, &host, "of host memory onto itself");
  between(&first, &host, "to the device");
  between(&host, &first, "to the host");
  between(&first, &first, "within the device and onto itself");
  between(&second, &first, "to another device");
  unmake(&host);
  unmake(&other);
  unmake(&first);
  unmake(&second);
}

/* Rows longer than a piece of a staged copy, and planes of many rows. */
static void test_long_rows(void)
{
  const uint64_t row = (5 << 20) + 11, pitch = (6 << 20) + 3;
  const tn_copy_shape shape = {
    .row_bytes = row, .rows = 2, .depth = 1,
    .dst_row_pitch = pitch, .src_row_pitch = row,
  };
  unsigned char *sent = malloc(2 * row), *got = calloc(2, pitch);
  char *here = tn_malloc(manual_first, 2 * row);
  char *there = tn_malloc(manual_second, 2 * pitch);
  for (uint64_t i = 0; i < 2 * row; i++) sent[i] = (unsigned char)(i * 31);
  tn_copy(here, manual_first, sent, manual_host, 2 * row, false);
  tap_is_int(run(&shape, manual_second, there, manual_first, here), TN_OK,
             "S3 rows longer than a staged piece");
  tn_copy(got, manual_host, there, manual_second, pitch + row, false);
  tap_ok(memcmp(got, sent, row) == 0 &&
             memcmp(got + pitch, sent + row, row) == 0, "S3 arrive whole");
  tn_free(here);
  tn_free(there);
  free(sent);
  free(got);
}

int main(void)
{
  manual_part("", test_all);
  manual_part("norows", test_all);
  manual_part("peer", test_all);
  manual_part("notable,norows", test_all);
  manual_part("", test_long_rows);
  return tap_done();
}
