/* Random programs on several streams, which wait for each other only where
 * they have to: queued, captured and replayed with arguments that change, they
 * leave what a sequence of assignments leaves (G1, G3, G6). TN_TEST_SEED
 * chooses others. */
#include "config.h"

#include "tests/test_device.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/tap.h"

enum {
  STREAMS = 5,
  PIECES = 6,  /* of device memory; none writes the first */
  PINNED = 3,  /* more of them, in pinned memory */
  ALL = PIECES + PINNED,
  STEPS = 60,
  REPLAYS = 5,
  SMALL = 16, LARGE = 20000 /* floats of a piece, all equal */
};

typedef enum step_kind { ADD, CLEAR, COPY, CALL, KINDS } step_kind;

typedef struct step {
  step_kind kind;
  int stream, from, to;
  float value;
} step;

typedef struct program {
  step steps[STEPS];
  tn_event *events[STEPS]; /* recorded behind each */
} program;

/* Who used a piece: steps, from 1; 0: none. */
typedef struct use {
  int writer;
  int readers[STREAMS]; /* the last one of each stream since then */
} use;

static tn_device device;
static tn_stream *streams[STREAMS];
static float *pieces[ALL];
static int count;       /* how many of their floats are used */
static bool has_pinned; /* copies of it can be captured */
static tn_kernel *add;
static uint64_t state;

static unsigned draw(unsigned choices)
{
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (unsigned)(state >> 33) % choices;
}

/* ---- programs ---- */

static int draw_piece(bool is_pinned, int first)
{
  return is_pinned ? PIECES + (int)draw(PINNED)
                   : first + (int)draw((unsigned)(PIECES - first));
}

static step draw_step(void)
{
  step s = { .kind = (step_kind)draw(KINDS), .stream = (int)draw(STREAMS) };
  bool is_up = has_pinned && draw(3) == 0, is_down = has_pinned && draw(3) == 0;
  if (s.kind == CALL && !has_pinned) s.kind = ADD;
  s.value = (float)(1 + draw(9));
  if (s.kind == CALL) is_up = is_down = true;
  if (s.kind != COPY && s.kind != CALL) is_up = is_down = false;
  if (is_up && is_down && s.kind == COPY) is_up = false;
  s.from = draw_piece(is_up, 0);
  do s.to = draw_piece(is_down, 1);
  while (s.kind == COPY && s.to == s.from);
  return s;
}

/* What a host function has to do. */
static void increase(void *argument)
{
  const step *s = argument;
  for (int i = 0; i < count; i++)
    pieces[s->to][i] = pieces[s->from][i] + 3;
}

static tn_device place_of(int piece)
{
  return piece < PIECES ? device : test_host;
}

static tn_status queue_step(step *s)
{
  size_t size = (size_t)count * sizeof(float);
  switch (s->kind) {
  case ADD:
    return tn_launch(add, count, TN_ARGS(TN_ARG_PTR(pieces[s->to]),
                                         TN_ARG_PTR(pieces[s->from]),
                                         TN_ARG_F32(s->value),
                                         TN_ARG_I64(count)));
  case CLEAR:
    return tn_fill_bytes(pieces[s->to], device, 0, size);
  case COPY:
    return tn_copy(pieces[s->to], place_of(s->to), pieces[s->from],
                   place_of(s->from), size, true);
  default:
    return tn_stream_call(streams[s->stream], increase, s);
  }
}

static bool reads(const step *s) { return s->kind != CLEAR; }

static void wait_for(const program *p, int stream, int other)
{
  if (other && p->steps[other - 1].stream != stream)
    tn_stream_wait_event(streams[stream], p->events[other - 1]);
}

/* Waits for those who wrote what is read, and who used what is written. */
static void wait_for_users(const program *p, const step *s, use *uses)
{
  if (reads(s)) wait_for(p, s->stream, uses[s->from].writer);
  wait_for(p, s->stream, uses[s->to].writer);
  for (int i = 0; i < STREAMS; i++)
    wait_for(p, s->stream, uses[s->to].readers[i]);
}

static void note_users(const step *s, int number, use *uses)
{
  if (reads(s)) uses[s->from].readers[s->stream] = number;
  uses[s->to] = (use){ .writer = number };
}

/* Forks from the first stream and joins it. */
static tn_status queue_program(program *p)
{
  use uses[ALL] = { { 0 } };
  tn_status status = TN_OK;
  for (int i = 1; i < STREAMS; i++)
    tn_stream_wait_stream(streams[i], streams[0]);
  for (int i = 0; i < STEPS && status == TN_OK; i++) {
    step *s = &p->steps[i];
    wait_for_users(p, s, uses);
    tn_with_stream(streams[s->stream]) status = queue_step(s);
    tn_event_record(p->events[i], streams[s->stream]);
    note_users(s, i + 1, uses);
  }
  for (int i = 1; i < STREAMS; i++)
    tn_stream_wait_stream(streams[0], streams[i]);
  return status;
}

/* ---- what has to come of them ---- */

static void assign(const program *p, float *values)
{
  for (int i = 0; i < STEPS; i++) {
    const step *s = &p->steps[i];
    float from = reads(s) ? values[s->from] : 0;
    values[s->to] = s->kind == ADD ? from + s->value
                    : s->kind == CALL ? from + 3
                                      : from;
  }
}

/* All pieces have their number. */
static void reset(float *values)
{
  static float host[LARGE];
  tn_synchronize(device);
  for (int i = 0; i < ALL; i++) {
    values[i] = (float)(100 * i);
    for (int k = 0; k < count; k++) host[k] = values[i];
    tn_copy(pieces[i], place_of(i), host, test_host, (size_t)count * 4, false);
  }
}

static bool is_all(int piece, float value)
{
  static float host[LARGE];
  tn_copy(host, test_host, pieces[piece], place_of(piece), (size_t)count * 4,
          false);
  for (int i = 0; i < count; i++)
    if (host[i] != value) {
      tap_note("element %d of piece %d is %g in place of %g", i, piece,
               (double)host[i], (double)value);
      return false;
    }
  return true;
}

static bool are(const float *values)
{
  bool is_right = true;
  tn_synchronize(device);
  for (int i = 0; i < ALL; i++) is_right &= is_all(i, values[i]);
  return is_right;
}

static bool try_queued(program *p)
{
  float values[ALL];
  reset(values);
  for (int i = 0; i < 2; i++) {
    if (queue_program(p) != TN_OK) return false;
    assign(p, values);
  }
  return are(values);
}

/* An addition's value, or what it adds to: the piece that none writes. */
static bool change(tn_graph *graph, program *p)
{
  size_t node = draw(STEPS);
  step *s = &p->steps[node];
  if (s->kind != ADD) return true;
  s->value = (float)(1 + draw(9));
  tn_arg value = TN_ARG_F32(s->value), from = TN_ARG_PTR(pieces[0]);
  if (tn_graph_set_argument(graph, node, 2, value) != TN_OK) return false;
  if (draw(2)) return true;
  s->from = 0;
  return tn_graph_set_argument(graph, node, 1, from) == TN_OK;
}

static bool try_replays(tn_graph *graph, program *p)
{
  float values[ALL];
  reset(values);
  tn_with_graph(graph, .stream = streams[0]) queue_program(p);
  if (tn_graph_node_count(graph) != STEPS || !are(values)) return false;
  for (int i = 0; i < REPLAYS; i++) {
    unsigned on = draw(STREAMS + 1);
    tn_stream *stream = on < STREAMS ? streams[on] : tn_default_stream(device);
    tn_with_stream(stream)
      if (tn_graph_replay(graph) != TN_OK) return false;
    assign(p, values);
    for (unsigned k = draw(4); k > 0; k--)
      if (!change(graph, p)) return false;
  }
  return are(values);
}

static void try_one(int number, bool is_small)
{
  static program p;
  uint64_t seed = state;
  count = is_small || draw(4) ? SMALL : LARGE;
  for (int i = 0; i < STEPS; i++) {
    p.steps[i] = draw_step();
    p.events[i] = tn_event_new(0);
  }
  bool is_queued = try_queued(&p);
  tn_graph *graph = tn_graph_new();
  bool is_replayed = try_replays(graph, &p);
  char path[64] = "";
  tn_graph_path(graph, path, sizeof path);
  tap_ok(is_queued && is_replayed, "G1 G3 G6 program %d: %s%s: %s, "
         "TN_TEST_SEED=%" PRIu64, number, is_queued ? "" : "queued: wrong; ",
         is_replayed ? "replayed" : "replayed: wrong", path, seed);
  if (!is_queued || !is_replayed) tap_note("%s", tn_error_message());
  tn_graph_release(graph);
  for (int i = 0; i < STEPS; i++) tn_event_release(p.events[i]);
}

/* ---- what they need ---- */

static bool prepare(tn_module **module)
{
  bool is_there = true;
  for (int i = 0; i < STREAMS; i++)
    is_there &= (streams[i] = tn_stream_new(device, 0)) != NULL;
  for (int i = 0; i < ALL; i++) {
    size_t size = LARGE * sizeof(float);
    pieces[i] = i < PIECES ? tn_malloc(device, size) : tn_malloc_pinned(size);
    is_there &= pieces[i] != NULL;
  }
  has_pinned = is_there && tn_memory_is_pinned(pieces[PIECES]);
  *module = tn_module_builtin(device, "elementwise");
  add = *module ? tn_kernel_get(*module, "add_scalar_f32") : NULL;
  return tap_ok(is_there && add, "G1 streams, memory and a kernel: %s",
                tn_error_message());
}

int main(void)
{
  tn_module *module;
  const char *seed = getenv("TN_TEST_SEED");
  device = test_device();
  tn_set_default_device(device);
  state = seed ? strtoull(seed, NULL, 10) : 1;
  if (!prepare(&module)) return tap_done();
  bool is_small = getenv("TN_TEST_SMALL") != NULL;
  for (int i = 0; i < (is_small ? 8 : 40); i++) try_one(i, is_small);
  for (int i = 0; i < ALL; i++) tn_free(pieces[i]);
  for (int i = 0; i < STREAMS; i++) tn_stream_release(streams[i]);
  tn_kernel_release(add);
  tn_module_release(module);
  return tap_done();
}
