/* Capture and replay (rules G1 to G7; rows A200 to A226). */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define COUNT 1000
#define VIOLATION TN_CAPTURE_VIOLATION

static tn_device device;
static tn_stream *stream, *side;
static tn_kernel *add_one;

static tn_status add(float *y, float value)
{
  return tn_launch(add_one, COUNT, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(y),
                                           TN_ARG_F32(value),
                                           TN_ARG_I64(COUNT)));
}

static void set(float *y, float value)
{
  float host[COUNT];
  for (int i = 0; i < COUNT; i++) host[i] = value;
  tn_synchronize(device);
  tn_copy(y, device, host, test_host, sizeof host, false);
}

/* All elements if they are equal, else -1. */
static float value_of(const float *y)
{
  float host[COUNT];
  tn_synchronize(device);
  if (tn_copy(host, test_host, y, device, sizeof host, false) != TN_OK)
    return -1;
  for (int i = 1; i < COUNT; i++)
    if (host[i] != host[0]) return -1;
  return host[0];
}

static void test_simple(void)
{
  float *y = tn_malloc(device, COUNT * sizeof *y);
  tn_graph *graph = tn_graph_new();
  set(y, 1);
  tap_ok(!tn_is_current_stream_capturing(device), "G1 A200 not captured");
  tap_is_int(tn_graph_begin(graph, .stream = stream), TN_OK, "G1 begin: %s",
             tn_error_message());
  tap_ok(tn_is_current_stream_capturing(device), "G1 A200 captured now");
  tap_ok(tn_capturing_graph(device) == graph, "G1 into this graph");
  for (int i = 0; i < 10; i++) add(y, 1);
  tap_is_int(tn_graph_end(graph), TN_OK, "G1 end");
  tap_ok(!tn_is_current_stream_capturing(device), "G1 A200 no more");
  tap_ok(value_of(y) == 1, "G1 A202 nothing has run");
  tap_is_int((long long)tn_graph_node_count(graph), 10, "G7 ten nodes");
  for (int i = 0; i < 3; i++) tn_graph_replay(graph);
  tap_ok(value_of(y) == 31, "G1 G6 A201 A226 three replays of ten");
  tn_with_stream(side) { tn_graph_replay(graph); }
  tap_ok(value_of(y) == 41, "G1 on another stream");
  tn_graph_reset(graph);
  tap_is_int(tn_graph_replay(graph), TN_INVALID_ARGUMENT,
             "G1 after a reset there is nothing to replay");
  tn_with_graph(graph, .stream = stream) { add(y, 2); }
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 43, "G1 A205 captured again in the same object");
  tn_graph_release(graph);
  tn_free(y);
}

static void test_empty(void)
{
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) { }
  tap_ok(tn_graph_replay(graph) == TN_OK, "G1 A204 an empty capture is one");
  tn_graph_release(graph);
}

static void test_arguments(void)
{
  float *y = tn_malloc(device, COUNT * sizeof *y);
  tn_graph *graph = tn_graph_new();
  set(y, 0);
  tn_with_graph(graph, .stream = stream) { add(y, 1); }
  tn_arg five = TN_ARG_F32(5), wrong = TN_ARG_I64(5);
  tap_is_int(tn_graph_set_argument(graph, 0, 2, five), TN_OK,
             "G1 an argument is changed");
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 5, "G1 which the next replay uses");
  tap_is_int(tn_graph_set_argument(graph, 0, 2, wrong), TN_INVALID_ARGUMENT,
             "G1 not its kind: %s", tn_error_message());
  tap_is_int(tn_graph_set_argument(graph, 0, 4, five), TN_INVALID_ARGUMENT,
             "G1 nor one that is not there: %s", tn_error_message());
  tap_is_int(tn_graph_set_argument(graph, 1, 0, five), TN_INVALID_ARGUMENT,
             "G1 nor of such a node: %s", tn_error_message());
  tn_graph_release(graph);
  tn_free(y);
}

static int hook_calls, forget_calls;

static tn_status count_up(tn_graph *graph, void *argument)
{
  tn_arg value = TN_ARG_F32((float)++hook_calls);
  (void)argument;
  return tn_graph_set_argument(graph, 0, 2, value);
}

static tn_status be_unavailable(tn_graph *graph, void *argument)
{
  (void)graph;
  (void)argument;
  return TN_DEVICE_UNAVAILABLE;
}

static void forget(void *argument)
{
  (void)argument;
  forget_calls++;
}

static void test_hooks(void)
{
  float *y = tn_malloc(device, COUNT * sizeof *y);
  tn_graph *graph = tn_graph_new();
  set(y, 0);
  tn_with_graph(graph, .stream = stream) {
    add(y, 100);
    tn_graph_on_replay(graph, count_up, NULL, forget);
  }
  for (int i = 0; i < 3; i++) tn_graph_replay(graph);
  tap_ok(value_of(y) == 6 && hook_calls == 3, "G5 a hook before each replay");
  tn_graph_on_replay(graph, be_unavailable, NULL, NULL);
  tn_clear_error();
  tap_is_int(tn_graph_replay(graph), TN_DEVICE_UNAVAILABLE,
             "G5 one that fails ends the replay");
  tap_has(tn_error_message(), "hook 1 failed", "G5 which says so");
  tap_ok(value_of(y) == 6, "G5 and nothing ran");
  tn_graph_release(graph);
  tap_is_int(forget_calls, 1, "G5 which is forgotten with the graph");
  tn_free(y);
}

/* Fork to a second stream and join. */
static void test_fork(void)
{
  float *y = tn_malloc(device, COUNT * sizeof *y);
  float *z = tn_malloc(device, COUNT * sizeof *z);
  tn_graph *graph = tn_graph_new();
  tn_event *event = tn_event_new(0);
  set(y, 0);
  set(z, 0);
  tn_with_graph(graph, .stream = stream) {
    add(y, 1);
    tn_event_record(event, stream);
    tn_stream_wait_event(side, event);
    tn_with_stream(side) {
      tap_ok(tn_is_current_stream_capturing(device),
             "G3 a stream that waits for a captured event is captured");
      add(z, 2);
    }
    tap_is_int(tn_event_query(event), VIOLATION,
               "G2 R52 the event is of the capture: %s", tn_error_message());
    add(y, 1);
    tn_stream_wait_stream(stream, side);
    add(y, 1);
  }
  tn_graph_replay(graph);
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 6 && value_of(z) == 4, "G3 both streams' work ran");
  tn_graph_node_info info;
  tn_graph_get_node(graph, 3, &info);
  tap_ok(info.dependency_count == 2 && info.stream == 0,
         "G7 the node after the join has two before it");
  tn_graph_get_node(graph, 1, &info);
  tap_ok(info.dependency_count == 1 && info.dependencies[0] == 0 &&
             info.stream == 1 && strcmp(info.name, "add_scalar_f32") == 0,
         "G7 the one on the other stream has one");
  tap_is_int(tn_event_query(event), TN_OK, "G2 after it the event is past");
  tn_event_release(event);
  tn_graph_release(graph);
  tn_free(y);
  tn_free(z);
}

static void test_unjoined(void)
{
  float *y = tn_malloc(device, COUNT * sizeof *y);
  tn_graph *graph = tn_graph_new();
  set(y, 0);
  tn_graph_begin(graph, .stream = stream);
  add(y, 1);
  tn_stream_wait_stream(side, stream);
  tn_with_stream(side) { add(y, 1); }
  tap_is_int(tn_graph_end(graph), VIOLATION, "G2 G3 unjoined: %s",
             tn_error_message());
  tap_is_int(tn_graph_replay(graph), TN_INVALID_ARGUMENT,
             "G2 and no replay");
  tn_with_stream(side) { add(y, 3); }
  tap_ok(value_of(y) == 3, "G2 both streams are usable");
  tn_graph_release(graph);
  tn_free(y);
}

/* What captures refuse; each ends cleanly. */
typedef enum deed {
  SYNCHRONIZE, SYNCHRONIZE_DEVICE, QUERY, READ, WRITE, DEFAULT_WAITS, NEST,
  DEEDS
} deed;

static tn_status commit(deed which, float *y)
{
  float host[COUNT] = { 0 };
  tn_graph *other;
  tn_status status;
  switch (which) {
  case SYNCHRONIZE: return tn_stream_synchronize(stream);
  case SYNCHRONIZE_DEVICE: return tn_synchronize(device);
  case QUERY: return tn_stream_query(stream);
  case READ:
    return tn_copy(host, test_host, y, device, sizeof host, false);
  case WRITE:
    return tn_copy(y, device, host, test_host, sizeof host, true);
  case DEFAULT_WAITS:
    return tn_stream_wait_stream(tn_default_stream(device), stream);
  default:
    other = tn_graph_new();
    status = tn_graph_begin(other, .stream = side);
    tn_graph_release(other);
    return status;
  }
}

static void test_refusals(void)
{
  static const char *const names[] = {
    "synchronising", "synchronising the device", "a query",
    "A187 a read to pageable memory", "A187 a copy of pageable memory",
    "the default stream waiting", "nesting"
  };
  float *y = tn_malloc(device, COUNT * sizeof *y);
  for (deed which = 0; which < DEEDS; which++) {
    tn_graph *graph = tn_graph_new();
    set(y, 0);
    tn_graph_begin(graph, .stream = stream);
    add(y, 1);
    tap_is_int(commit(which, y), VIOLATION, "G2 %s: %s", names[which],
               tn_error_message());
    tap_is_int(tn_graph_end(graph), which == NEST ? TN_OK : VIOLATION,
               "G2 %s: the end", names[which]);
    tap_ok(value_of(y) == 0, "G2 %s: nothing ran", names[which]);
    tn_graph_release(graph);
    tn_with_stream(stream) { add(y, 7); }
    tap_ok(value_of(y) == 7, "G2 %s: the stream is usable", names[which]);
  }
  tn_free(y);
}

static void test_default_stream(void)
{
  tn_graph *graph = tn_graph_new();
  tap_is_int(tn_graph_begin(graph, .stream = tn_default_stream(device)),
             VIOLATION, "G2 A203 the default stream: %s", tn_error_message());
  tap_is_int(tn_graph_end(graph), TN_INVALID_ARGUMENT,
             "G2 no end without a begin: %s", tn_error_message());
  tap_is_int(tn_graph_begin(graph, .stream = stream, .mode = 7),
             TN_INVALID_ARGUMENT, "G2 no such mode: %s", tn_error_message());
  tn_graph_release(graph);
}

static void test_copies(void)
{
  size_t size = COUNT * sizeof(float);
  float *y = tn_malloc(device, size), *z = tn_malloc(device, size);
  float *pinned = tn_malloc_pinned(size);
  tn_graph *graph = tn_graph_new();
  set(y, 3);
  set(z, 0);
  tn_with_graph(graph, .stream = stream) {
    tn_copy(z, device, y, device, size, true);
    add(z, 1);
    tn_fill_bytes(y, device, 0, size);
  }
  tn_graph_replay(graph);
  tap_ok(value_of(z) == 4 && value_of(y) == 0, "G1 copies and fills");
  tn_graph_node_info info;
  tn_graph_get_node(graph, 0, &info);
  tap_ok(info.kind == TN_GRAPH_COPY && info.bytes == (int64_t)size,
         "G7 with their sizes");
  tn_graph_reset(graph);
  bool is_pinned = tn_memory_is_pinned(pinned);
  tn_with_graph(graph, .stream = stream) {
    tn_copy(pinned, test_host, z, device, size, true);
  }
  if (is_pinned && tn_graph_node_count(graph) == 1) {
    tn_with_stream(stream) {
      tn_graph_replay(graph);
      tn_stream_synchronize(stream);
    }
    tap_ok(pinned[0] == 4 && pinned[COUNT - 1] == 4,
           "G1 into pinned memory");
  } else
    tap_skip("G1 a copy of host memory is not captured here: %s",
             tn_error_message());
  tn_graph_release(graph);
  tn_free(pinned);
  tn_free(y);
  tn_free(z);
}

static int host_calls;

static void call(void *argument)
{
  host_calls += *(int *)argument;
}

static void test_functions(void)
{
  int two = 2;
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    tn_stream_call(stream, call, &two);
  }
  tap_is_int(host_calls, 0, "G1 a host function is not called in a capture");
  tn_graph_replay(graph);
  tn_graph_replay(graph);
  tn_synchronize(device);
  tap_is_int(host_calls, 4, "G1 and at each replay");
  tn_graph_release(graph);
}

/* Memory of a capture is the graph's: nobody else gets it. */
static void test_pool(void)
{
  size_t size = COUNT * sizeof(float);
  tn_graph *graph = tn_graph_new(), *sharing = tn_graph_new();
  float *y = tn_malloc(device, size), *temporary = NULL;
  set(y, 0);
  tn_with_graph(graph, .stream = stream) {
    temporary = tn_malloc(device, size);
    tn_copy(temporary, device, y, device, size, true);
    add(temporary, 1);
    tn_copy(y, device, temporary, device, size, true);
    tn_free(temporary);
  }
  tn_with_stream(stream) {
    float *after = tn_malloc(device, size);
    tap_ok(after != temporary, "G4 memory freed in a capture stays its own");
    tn_free(after);
  }
  tn_empty_cache(device);
  for (int i = 0; i < 5; i++) tn_graph_replay(graph);
  tap_ok(value_of(y) == 5, "G4 A211 emptying the cache leaves it alone");
  float *again = NULL;
  tn_with_graph(sharing, .stream = stream, .pool = tn_graph_pool(graph)) {
    again = tn_malloc(device, size);
    tn_free(again);
  }
  tap_ok(again == temporary, "G4 A206 a shared pool is used again");
  tn_graph_release(graph);
  tn_graph_release(sharing);
  tn_free(y);
}

/* R26: failed captures give their pools back. */
static void test_failed_pools(void)
{
  tn_empty_cache(device);
  size_t before = tn_memory_reserved(device);
  for (int i = 0; i < 20; i++) {
    tn_graph *graph = tn_graph_new();
    tn_graph_begin(graph, .stream = stream);
    void *memory = tn_malloc(device, (size_t)8 << 20);
    if (i % 2) tn_stream_synchronize(stream);
    tn_free(memory);
    if (i % 3) tn_graph_end(graph);
    tn_graph_release(graph);
  }
  tn_empty_cache(device);
  tap_is_int((long long)tn_memory_reserved(device), (long long)before,
             "G4 R26 failed and dropped captures give their memory back");
}

static void *allocate(void *argument)
{
  *(tn_status *)argument = TN_OK;
  void *memory = tn_malloc(device, (size_t)64 << 20);
  if (!memory) *(tn_status *)argument = tn_last_status();
  tn_free(memory);
  return NULL;
}

static void test_modes(void)
{
  static const tn_graph_mode modes[] = { TN_GRAPH_GLOBAL,
                                         TN_GRAPH_THREAD_LOCAL,
                                         TN_GRAPH_RELAXED };
  for (int i = 0; i < 3; i++) {
    tn_graph *graph = tn_graph_new();
    pthread_t thread;
    tn_status status;
    tn_graph_begin(graph, .stream = stream, .mode = modes[i]);
    pthread_create(&thread, NULL, allocate, &status);
    pthread_join(thread, NULL);
    tn_status wanted = i ? TN_OK : VIOLATION;
    tap_is_int(status, wanted, "G2 A216 memory for another thread, mode %d",
               i);
    tap_is_int(tn_graph_end(graph), wanted, "G2 A216 the end, mode %d", i);
    tn_graph_release(graph);
  }
}

static void test_dump(void)
{
  char *text = NULL;
  size_t size;
  float *y = tn_malloc(device, COUNT * sizeof *y);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    add(y, 1);
    tn_fill_bytes(y, device, 0, 64);
  }
  FILE *file = open_memstream(&text, &size);
  tap_is_int(tn_graph_dump(graph, file), TN_OK, "G7 dumped");
  fclose(file);
  tap_has(text, "n0 -> n1;", "G7 A221 as DOT");
  free(text);
  file = open_memstream(&text, &size);
  tn_graph_list(graph, file);
  fclose(file);
  tap_has(text, "fill, 64 bytes  after 0", "G7 as text");
  free(text);
  tap_is_int(tn_graph_dump(graph, NULL), TN_INVALID_ARGUMENT, "G7 no file");
  tn_graph_release(graph);
  tn_free(y);
}

static void test_null(void)
{
  tap_ok(tn_graph_begin_with(NULL, (tn_graph_options){ 0 }) ==
                 TN_INVALID_ARGUMENT &&
             tn_graph_end(NULL) == TN_INVALID_ARGUMENT &&
             tn_graph_replay(NULL) == TN_INVALID_ARGUMENT &&
             tn_graph_reset(NULL) == TN_INVALID_ARGUMENT &&
             !tn_graph_pool(NULL) && tn_graph_node_count(NULL) == 0,
         "G2 NULL is no graph");
  tn_graph_release(NULL);
}

int main(void)
{
  device = test_device();
  tn_set_default_device(device);
  stream = tn_stream_new(device, 0);
  side = tn_stream_new(device, 0);
  tn_module *module = tn_module_builtin(device, "elementwise");
  add_one = module ? tn_kernel_get(module, "add_scalar_f32") : NULL;
  if (!tap_ok(stream && side && add_one, "G1 streams and a kernel: %s",
              tn_error_message()))
    return tap_done();
  test_simple();
  test_empty();
  test_arguments();
  test_hooks();
  test_fork();
  test_unjoined();
  test_refusals();
  test_default_stream();
  test_copies();
  test_functions();
  test_pool();
  test_failed_pools();
  test_modes();
  test_dump();
  test_null();
  tn_kernel_release(add_one);
  tn_module_release(module);
  tn_stream_release(stream);
  tn_stream_release(side);
  return tap_done();
}
