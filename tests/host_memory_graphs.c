#define _GNU_SOURCE
#include "config.h"

#include "tests/host_memory_scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/failing_malloc.h"
#include "tests/tap.h"

/* ---- kernels ---- */

static const char source[] =
    "TN_KERNEL(up, TN_OUT(int32, y), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] += STEP; }";

static void compute(tn_module *module, int32_t *memory)
{
  int32_t got[COUNT] = { 0 };
  tn_kernel *kernel = tn_kernel_get(module, "up");
  if (!note(kernel != NULL)) return;
  bool is_good = false;
  tn_with_stream(stream) {
    is_good = did(tn_fill_bytes(memory, here, 0, BYTES));
    is_good &= did(tn_launch(kernel, COUNT, TN_ARGS(TN_ARG_PTR(memory),
                                                    TN_ARG_I64(COUNT))));
    is_good &= did(tn_copy(got, nowhere, memory, here, BYTES, false));
  }
  tn_kernel_release(kernel);
  if (is_good && (got[0] != 2 || got[COUNT - 1] != 2))
    wrong("a kernel did not run");
}

void use_kernels(void)
{
  int32_t *memory = memory_of(here, BYTES);
  tn_module *module = tn_module_load(here, source, .name = "host_memory",
                                     .defines = "STEP=2");
  if (note(module != NULL) && memory) compute(module, memory);
  tn_module_release(module);
  calm_down();
  give_back(memory);
}

/* ---- all ways to launch ---- */

static bool launch_all(tn_kernel *kernel, float *memory)
{
  tn_launch_desc desc = { .struct_size = sizeof desc, .group_size = { 64 },
                          .groups = { 16 } };
  bool is_good = did(tn_launch_groups(kernel, 4,
                                      TN_ARGS(TN_ARG_PTR(memory),
                                              TN_ARG_F32(5),
                                              TN_ARG_I64(COUNT / 2))));
  return did(tn_launch_with(kernel, &desc,
                            TN_ARGS(TN_ARG_PTR(memory + COUNT / 2),
                                    TN_ARG_F32(5), TN_ARG_I64(COUNT / 2)))) &&
         is_good;
}

void use_launches(void)
{
  float got[COUNT], *memory = memory_of(here, BYTES);
  tn_module *module = tn_module_builtin(here, "elementwise");
  tn_module *same = tn_module_retain(module);
  tn_kernel *kernel = module ? tn_kernel_get(same, "fill_f32") : NULL;
  tn_module_release(module);
  note(kernel != NULL);
  bool is_good = false;
  if (kernel && memory) {
    tn_kernel_release(tn_kernel_retain(kernel));
    if (strcmp(tn_kernel_name(kernel), "fill_f32") != 0 ||
        !strstr(tn_kernel_signature(kernel), "OUT") ||
        !tn_device_equal(tn_kernel_device(kernel), here))
      wrong("a kernel is another");
    tn_with_stream(stream)
      is_good = launch_all(kernel, memory) &&
                did(tn_copy(got, nowhere, memory, here, BYTES,
                            false));
  }
  calm_down();
  if (is_good && (got[0] != 5 || got[COUNT - 1] != 5))
    wrong("a launch did not run");
  tn_kernel_release(kernel);
  tn_module_release(same);
  give_back(memory);
}

static void bump(int *number) { ++*number; }

void use_native(void)
{
  int number = 0;
  tn_kernel *kernel = tn_kernel_native(here, (void (*)(void))bump, "v(p)");
  if (!kernel && tn_last_status() == TN_UNSUPPORTED) return;
  bool is_queued = false;
  if (note(kernel != NULL))
    tn_with_stream(stream)
      is_queued = did(tn_launch(kernel, 1, TN_ARGS(TN_ARG_PTR(&number))));
  calm_down();
  if (is_queued && number != 1) wrong("a native kernel did not run");
  tn_kernel_release(kernel);
}

/* ---- graphs ---- */

static tn_status before_replay(tn_graph *graph, void *unused)
{
  (void)graph, (void)unused;
  return TN_OK;
}

/* Two streams, memory of the graph's own, a kernel, all sorts of nodes. */
static bool record(tn_graph *graph, tn_kernel *kernel, float *memory)
{
  int node_failures = scenario_failures;
  tn_event *event = tn_event_new(0);
  if (!note(event != NULL)) return false;
  if (did(tn_graph_begin(graph, .stream = stream))) {
    did(tn_fill_bytes(memory, here, 0, BYTES));
    bool is_whole = did(tn_event_record(event, stream));
    is_whole &= did(tn_stream_wait_event(urgent, event));
    tn_with_stream(urgent)
      is_whole &= did(tn_launch(kernel, COUNT / 2,
                                TN_ARGS(TN_ARG_PTR(memory), TN_ARG_F32(2),
                                        TN_ARG_I64(COUNT / 2))));
    void *inside = memory_of(here, 50000);
    if (inside) did(tn_fill_bytes(inside, here, 1, 50000));
    is_whole &= did(tn_stream_wait_stream(stream, urgent));
    did(tn_copy(memory + COUNT / 2, here, memory, here, BYTES / 2, true));
    give_back(inside);
    did(tn_graph_on_replay(graph, before_replay, NULL, NULL));
    if (did(tn_graph_end(graph)) && !is_whole)
      wrong("a capture that lacks something is valid");
  }
  tn_event_release(event);
  return scenario_failures == node_failures;
}

static void look_at(tn_graph *graph)
{
  char *text = NULL, path[200];
  size_t size;
  tn_graph_node_info info;
  FILE *file = open_memstream(&text, &size);
  did(tn_graph_dump(graph, file));
  did(tn_graph_list(graph, file));
  fclose(file);
  __real_free(text);
  note(tn_graph_path(graph, path, sizeof path) > 0);
  for (size_t i = 0; i < tn_graph_node_count(graph); i++)
    if (did(tn_graph_get_node(graph, i, &info)) &&
        info.kind == TN_GRAPH_KERNEL)
      did(tn_graph_set_argument(graph, i, 1, (tn_arg)TN_ARG_F32(3)));
}

static void replay(tn_graph *graph, const float *memory)
{
  float got[COUNT] = { 0 };
  bool is_good = false;
  tn_with_stream(urgent) {
    is_good = did(tn_graph_replay(graph)) && did(tn_graph_replay(graph));
    is_good &= did(tn_copy(got, nowhere, memory, here, BYTES, false));
  }
  if (!is_good || (got[0] >= 2 && got[COUNT - 1] == got[0])) return;
  tap_note("elements %g and %g", (double)got[0], (double)got[COUNT - 1]);
  wrong("a replay did not run");
}

void use_graphs(void)
{
  float *memory = memory_of(here, BYTES);
  tn_module *module = tn_module_builtin(here, "elementwise");
  tn_kernel *kernel = module ? tn_kernel_get(module, "fill_f32") : NULL;
  tn_graph *graph = tn_graph_new(), *second = tn_graph_new();
  note(kernel && graph && second);
  if (kernel && memory && graph && second) {
    bool is_whole = record(graph, kernel, memory);
    if (is_whole) look_at(graph);
    if (is_whole) replay(graph, memory);
    did(tn_graph_reset(graph));
    record(graph, kernel, memory);
    if (did(tn_graph_begin(second, .stream = stream,
                           .pool = tn_graph_pool(graph)))) {
      tn_stream_synchronize(stream); /* is refused, and ends it */
      tn_graph_end(second);
    }
  }
  calm_down();
  tn_graph_release(graph);
  tn_graph_release(second);
  tn_kernel_release(kernel);
  tn_module_release(module);
  give_back(memory);
}

/* ---- captures ---- */

static void look_at_capture(tn_graph *graph)
{
  size_t node;
  did(tn_capturing_node(here, &node));
  note(tn_capturing_graph(here) == graph);
  note(tn_is_current_stream_capturing(here));
}

static bool capture(tn_graph *graph, void *memory)
{
  tn_clear_error();
  tn_graph_guard guard = tn_graph_push(graph, (tn_graph_options){
                                                .stream = stream });
  if (note(guard.active) && did(tn_fill_bytes(memory, here, 9, BYTES)))
    look_at_capture(graph);
  tn_graph_pop(&guard);
  return did(tn_last_status());
}

static void replay_nines(tn_graph *graph, void *memory)
{
  void *native;
  unsigned char got[BYTES] = { 0 };
  may(tn_graph_native(graph, &native));
  tn_with_stream(urgent)
    if (did(tn_graph_replay(graph)) &&
        did(tn_copy(got, nowhere, memory, here, BYTES, false)) &&
        (got[0] != 9 || got[BYTES - 1] != 9))
      wrong("a replay did not run");
}

/* With the block, and without an end. */
void use_captures(void)
{
  void *memory = memory_of(here, BYTES);
  tn_graph *graph = tn_graph_new(), *same = tn_graph_retain(graph);
  if (note(graph != NULL) && memory) {
    if (capture(graph, memory)) replay_nines(graph, memory);
    tn_with_graph(same, .stream = stream, .mode = TN_GRAPH_RELAXED)
      did(tn_fill_bytes(memory, here, 1, BYTES));
    if (did(tn_graph_begin(graph, .stream = stream)))
      did(tn_fill_bytes(memory, here, 2, BYTES));
  }
  tn_graph_release(same);
  tn_graph_release(graph);
  calm_down();
  give_back(memory);
}
