/* Random programs of kernels, copies, events, streams and frees on a device,
 * and on its sibling where there is one, against the same program run at once
 * on the host: whatever is queued where, and however late it runs, every value
 * read is the one that a synchronous program would see.
 *
 * TN_TEST_DEVICE names the device, TN_TEST_SEED the first of three seeds.
 */
#define _GNU_SOURCE /* setenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "tests/tap.h"

enum {
  COUNT = 777,
  BYTES = COUNT * sizeof(float),
  BUFFERS = 6,
  STREAMS = 3, /* of a device, the default one included */
  DEVICES = 2,
  SEEDS = 3,
  STEPS = 400
};

typedef struct place {
  tn_device device;
  tn_stream *streams[STREAMS];
  tn_kernel *fill, *negate, *largest;
} place;

typedef struct buffer {
  const place *place;
  float *memory;
  float model[COUNT];
  tn_stream *last; /* the last stream that used it */
  tn_event *event; /* recorded then */
} buffer;

static const tn_device host;
static place places[DEVICES];
static int place_count;
static buffer buffers[BUFFERS];
static uint32_t state; /* of the random numbers */
static int failures;   /* calls that failed, and wrong values */

static unsigned draw(unsigned bound)
{
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % bound;
}

/* Never 0: of 0 and -0 either may be the larger. */
static float draw_value(void)
{
  return (float)(1 + draw(1000));
}

static void expect(tn_status status, const char *what)
{
  if (status == TN_OK) return;
  failures++;
  tap_note("%s: %s", what, tn_error_message());
}

/* Any stream of a place, which becomes the current one. */
static tn_stream *choose(const place *at)
{
  tn_stream *stream = at->streams[draw(STREAMS)];
  expect(tn_set_stream(stream), "set_stream");
  return stream;
}

/* What the stream does from now on comes after the buffer's last use. */
static void order(buffer *b, tn_stream *stream)
{
  if (b->last == stream) return;
  switch (draw(3)) {
  case 0: expect(tn_stream_wait_stream(stream, b->last), "wait"); break;
  case 1: expect(tn_stream_wait_event(stream, b->event), "wait"); break;
  default: expect(tn_stream_synchronize(b->last), "synchronize"); break;
  }
}

static void used(buffer *b, tn_stream *stream)
{
  b->last = stream;
  expect(tn_event_record(b->event, stream), "record");
}

static void fill(buffer *b)
{
  tn_stream *stream = choose(b->place);
  float value = draw_value();
  order(b, stream);
  expect(tn_launch(b->place->fill, COUNT,
                   TN_ARGS(TN_ARG_PTR(b->memory), TN_ARG_F32(value),
                           TN_ARG_I64(COUNT))),
         "fill");
  used(b, stream);
  for (int i = 0; i < COUNT; i++) b->model[i] = value;
}

static void negate(buffer *b)
{
  tn_stream *stream = choose(b->place);
  order(b, stream);
  expect(tn_launch(b->place->negate, COUNT,
                   TN_ARGS(TN_ARG_PTR(b->memory), TN_ARG_PTR(b->memory),
                           TN_ARG_I64(COUNT))),
         "negate");
  used(b, stream);
  for (int i = 0; i < COUNT; i++) b->model[i] = -b->model[i];
}

/* a = max(a, b) where both are on one device, else a = b. */
static void combine(buffer *a, buffer *b)
{
  if (a == b) return;
  tn_stream *stream = choose(a->place), *other = stream;
  bool same = a->place == b->place;
  if (!same) other = choose(b->place);
  order(a, stream);
  order(b, other);
  if (same)
    expect(tn_launch(a->place->largest, COUNT,
                     TN_ARGS(TN_ARG_PTR(a->memory), TN_ARG_PTR(a->memory),
                             TN_ARG_PTR(b->memory), TN_ARG_I64(COUNT))),
           "largest");
  else
    expect(tn_copy(a->memory, a->place->device, b->memory, b->place->device,
                   BYTES, draw(2)),
           "copy between devices");
  used(a, stream);
  used(b, other);
  for (int i = 0; i < COUNT; i++)
    if (!same || b->model[i] > a->model[i]) a->model[i] = b->model[i];
}

/* A part of a buffer comes from another of the same device. */
static void copy_part(buffer *a, buffer *b)
{
  if (a->place != b->place) return;
  tn_stream *stream = choose(a->place);
  unsigned from = draw(COUNT), to = draw(COUNT);
  unsigned count = COUNT - (from > to ? from : to);
  order(a, stream);
  order(b, stream);
  expect(tn_copy(a->memory + to, a->place->device, b->memory + from,
                 b->place->device, count * sizeof(float), draw(2)),
         "copy within a device");
  used(a, stream);
  used(b, stream);
  memmove(a->model + to, b->model + from, count * sizeof(float));
}

/* The host's memory is given away, or spoilt, before the copy may have run. */
static void write_in(buffer *b)
{
  float plain[COUNT], *pinned = NULL;
  tn_stream *stream = choose(b->place);
  for (int i = 0; i < COUNT; i++) plain[i] = b->model[i] = draw_value();
  if (draw(2)) pinned = tn_malloc_pinned(BYTES);
  if (pinned) memcpy(pinned, plain, BYTES);
  order(b, stream);
  expect(tn_copy(b->memory, b->place->device, pinned ? pinned : plain, host,
                 BYTES, draw(2)),
         "copy to a device");
  used(b, stream);
  tn_free(pinned);
  memset(plain, 0, BYTES);
}

static void compare(const buffer *b, const float *got)
{
  if (!memcmp(b->model, got, BYTES)) return;
  int i = 0;
  while (b->model[i] == got[i] && i < COUNT - 1) i++;
  if (!failures++)
    tap_note("buffer %d: element %d is %g, not %g", (int)(b - buffers), i,
             (double)got[i], (double)b->model[i]);
}

static void read_out(buffer *b)
{
  float plain[COUNT], *pinned = NULL;
  tn_stream *stream = choose(b->place);
  bool waits = draw(2);
  if (!waits) pinned = tn_malloc_pinned(BYTES);
  order(b, stream);
  expect(tn_copy(pinned ? pinned : plain, host, b->memory, b->place->device,
                 BYTES, pinned != NULL),
         "copy to the host");
  used(b, stream);
  if (pinned) expect(tn_event_synchronize(b->event), "event_synchronize");
  compare(b, pinned ? pinned : plain);
  tn_free(pinned);
}

/* Memory may still be in use by what was queued on its stream before. */
static void make(buffer *b, const place *at)
{
  b->place = at;
  tn_stream *stream = choose(at);
  b->memory = tn_malloc(at->device, BYTES);
  if (!b->memory) expect(tn_last_status(), "malloc");
  used(b, stream);
}

/* Freed while work on it is queued, on its own stream and on others. */
static void replace(buffer *b)
{
  expect(tn_memory_record_stream(b->memory, b->last), "record");
  tn_free(b->memory);
  make(b, b->place);
  fill(b);
}

static void look(buffer *b)
{
  tn_status status = draw(2) ? tn_stream_query(b->last)
                             : tn_event_query(b->event);
  if (status != TN_NOT_READY) expect(status, "query");
}

static void step(void)
{
  buffer *a = &buffers[draw(BUFFERS)], *b = &buffers[draw(BUFFERS)];
  switch (draw(12)) {
  case 0: fill(a); break;
  case 1: case 2: negate(a); break;
  case 3: case 4: case 5: combine(a, b); break;
  case 6: copy_part(a, b); break;
  case 7: write_in(a); break;
  case 8: read_out(a); break;
  case 9: replace(a); break;
  case 10: look(a); break;
  default:
    if (!draw(10)) expect(tn_synchronize(a->place->device), "synchronize");
  }
}

static void run(uint32_t seed)
{
  state = seed * 2654435761u + 1;
  failures = 0;
  for (int i = 0; i < BUFFERS; i++) {
    buffers[i].event = tn_event_new(0);
    make(&buffers[i], &places[i % place_count]);
    fill(&buffers[i]);
  }
  for (int i = 0; i < STEPS && failures < 5; i++) step();
  for (int i = 0; i < BUFFERS; i++) {
    read_out(&buffers[i]);
    tn_free(buffers[i].memory);
    tn_event_release(buffers[i].event);
  }
  tap_is_int(failures, 0, "S2 seed %u: %d steps on %d devices see what a "
             "synchronous program sees", (unsigned)seed, STEPS, place_count);
}

/* NULL if the device is there. */
static const char *open_place(place *at, const char *backend, int ordinal)
{
  char text[TN_DEVICE_TEXT_SIZE + 16];
  snprintf(text, sizeof text, "%s:%d", backend, ordinal);
  at->device = tn_device_of(text);
  at->streams[0] = tn_default_stream(at->device);
  if (!at->streams[0]) return tn_error_message();
  for (int i = 1; i < STREAMS; i++) {
    at->streams[i] = tn_stream_new(at->device, -(i % 2));
    if (!at->streams[i]) return tn_error_message();
  }
  tn_module *module = tn_module_builtin(at->device, "elementwise");
  at->fill = tn_kernel_get(module, "fill_f32");
  at->negate = tn_kernel_get(module, "neg_f32");
  at->largest = tn_kernel_get(module, "maximum_f32");
  tn_module_release(module);
  return at->fill && at->negate && at->largest ? NULL : tn_error_message();
}

static void close_place(place *at)
{
  for (int i = 1; i < STREAMS; i++) tn_stream_release(at->streams[i]);
  tn_kernel_release(at->fill);
  tn_kernel_release(at->negate);
  tn_kernel_release(at->largest);
}

int main(void)
{
  const char *device = getenv("TN_TEST_DEVICE");
  const char *seed = getenv("TN_TEST_SEED");
  char backend[TN_DEVICE_TEXT_SIZE];
  setenv("TENON_CPU_DEVICES", "2", 0);
  snprintf(backend, sizeof backend, "%s", device ? device : "cpu");
  backend[strcspn(backend, ":")] = 0;
  int count = tn_device_count(backend);
  if (!count) {
    printf("1..0 # SKIP %s\n", tn_error_message());
    return 0;
  }
  uint32_t first = seed ? (uint32_t)strtoul(seed, NULL, 10) : 1;
  const char *problem = NULL;
  for (; place_count < DEVICES && place_count < count && !problem;
       place_count++)
    problem = open_place(&places[place_count], backend, place_count);
  if (!tap_ok(!problem, "S7 %d devices of %s are open", place_count, backend))
    tap_note("%s", problem);
  for (uint32_t i = 0; i < SEEDS && !problem; i++) run(first + i);
  for (int i = 0; i < place_count; i++) close_place(&places[i]);
  return tap_done();
}
