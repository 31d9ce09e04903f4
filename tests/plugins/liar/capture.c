/* Lies about captures: what becomes of recorded commands. */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plugins/liar/liar.h"

/* ---- which stream this thread captures ---- */

static _Thread_local struct {
  tn_backend_stream *stream; /* NULL: none */
  unsigned launches;         /* captured so far */
} now;

static atomic_int captures; /* of all threads */

static tn_status begin(tn_backend_stream *stream)
{
  tn_status status = liar_base.graph.capture_begin(stream);
  if (status != TN_OK) return status;
  now.stream = stream;
  now.launches = 0;
  ++captures;
  return TN_OK;
}

static tn_status end(tn_backend_stream *stream, tn_backend_graph **graph)
{
  now.stream = NULL;
  --captures;
  return liar_base.graph.capture_end(stream, graph);
}

static void note_captures(void)
{
  liar_own.graph.capture_begin = begin;
  liar_own.graph.capture_end = end;
}

static bool is_captured(const tn_backend_stream *stream)
{
  return now.stream && now.stream == stream;
}

/* ---- what is recorded runs ---- */

static tn_status end_and_run(tn_backend_stream *stream,
                             tn_backend_graph **graph)
{
  tn_status status = end(stream, graph);
  if (status != TN_OK) return status;
  tn_backend_stream *aside = liar_aside();
  return aside ? liar_base.graph.launch(*graph, aside) : TN_OK;
}

static tn_status function_at_once(tn_backend_stream *stream,
                                  void (*function)(void *), void *argument,
                                  tn_tag tag)
{
  if (is_captured(stream)) function(argument);
  return liar_base.stream.host_function(stream, function, argument, tag);
}

/* ---- memory is read too early ---- */

static tn_status copy_as_it_is(tn_backend_stream *stream,
                               tn_backend_device *device,
                               const tn_copy_desc *desc)
{
  tn_copy_desc own = *desc;
  if (is_captured(stream) && desc->kind == TN_COPY_HOST_TO_DEVICE) {
    void *kept = malloc(desc->row_bytes);
    memcpy(kept, (void *)(uintptr_t)desc->src, desc->row_bytes);
    own.src = (tn_address)(uintptr_t)kept;
  }
  return liar_base.copy.copy(stream, device, &own);
}

/* ---- edges ---- */

static tn_status after_none(tn_backend_stream *stream, const uint64_t *nodes,
                            size_t count)
{
  (void)count;
  return liar_base.graph.capture_after(stream, nodes, 0);
}

static tn_status after_fewer(tn_backend_stream *stream, const uint64_t *nodes,
                             size_t count)
{
  return liar_base.graph.capture_after(stream, nodes, count > 1 ? count - 1
                                                                : count);
}

/* Without capture_after; and yet all are in no order. */
static void loosen(tn_backend_stream *stream)
{
  if (is_captured(stream)) liar_base.graph.capture_after(stream, NULL, 0);
}

static tn_status copy_loose(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_copy_desc *desc)
{
  loosen(stream);
  return liar_base.copy.copy(stream, device, desc);
}

static tn_status fill_loose(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_fill_desc *desc)
{
  loosen(stream);
  return liar_base.copy.fill(stream, device, desc);
}

static tn_status launch_loose(tn_backend_stream *stream,
                              tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              const uint64_t *slots)
{
  loosen(stream);
  return liar_base.launch.launch(stream, kernel, desc, slots);
}

/* ---- nodes ---- */

/* The number of the command before. */
static tn_status node_before(tn_backend_stream *stream, uint64_t *node)
{
  static _Thread_local uint64_t before;
  static _Thread_local tn_backend_stream *of;
  uint64_t own;
  tn_status status = liar_base.graph.capture_node(stream, &own);
  if (status != TN_OK) return status;
  *node = of == stream ? before : own;
  of = stream;
  before = own;
  return TN_OK;
}

/* A fill becomes two, and what runs after it runs after the first of them. */
enum { AFTER = 64 };
static _Thread_local struct {
  uint64_t after[AFTER], first;
  size_t count;
  bool is_split;
} half;

static tn_status after_half(tn_backend_stream *stream, const uint64_t *nodes,
                            size_t count)
{
  half.count = count < AFTER ? count : AFTER;
  if (count) memcpy(half.after, nodes, half.count * sizeof *nodes);
  half.is_split = false;
  return liar_base.graph.capture_after(stream, nodes, count);
}

static tn_status fill_in_two(tn_backend_stream *stream,
                             tn_backend_device *device,
                             const tn_fill_desc *desc)
{
  tn_fill_desc part = *desc;
  if (!is_captured(stream) || desc->count < 2)
    return liar_base.copy.fill(stream, device, desc);
  part.count = desc->count / 2;
  tn_status status = liar_base.copy.fill(stream, device, &part);
  if (status == TN_OK)
    status = liar_base.graph.capture_node(stream, &half.first);
  if (status == TN_OK)
    status = liar_base.graph.capture_after(stream, half.after, half.count);
  if (status != TN_OK) return status;
  part.dst += part.count * part.pattern_bytes;
  part.count = desc->count - part.count;
  half.is_split = true;
  return liar_base.copy.fill(stream, device, &part);
}

static tn_status node_half(tn_backend_stream *stream, uint64_t *node)
{
  tn_status status = liar_base.graph.capture_node(stream, node);
  if (status == TN_OK && half.is_split) *node = half.first;
  return status;
}

/* Launches of a capture that are not recorded. */
static bool (*is_dropped)(unsigned number);

static bool is_fourth(unsigned number) { return number % 4 == 0; }
static bool is_beyond(unsigned number) { return number > 1024; }

static tn_status launch_unless_dropped(tn_backend_stream *stream,
                                       tn_backend_kernel *kernel,
                                       const tn_backend_launch_desc *desc,
                                       const uint64_t *slots)
{
  if (is_captured(stream) && is_dropped(++now.launches)) return TN_OK;
  return liar_base.launch.launch(stream, kernel, desc, slots);
}

/* ---- refusals ---- */

static tn_status fill_invalid(tn_backend_stream *stream,
                              tn_backend_device *device,
                              const tn_fill_desc *desc)
{
  if (is_captured(stream))
    return liar_host->error(TN_INVALID_ARGUMENT, "no fills in graphs");
  return liar_base.copy.fill(stream, device, desc);
}

/* What was refused is never over: others are refused from then on. */
static atomic_bool is_stuck;

static tn_status fill_refused(tn_backend_stream *stream,
                              tn_backend_device *device,
                              const tn_fill_desc *desc)
{
  if (!is_captured(stream))
    return liar_base.copy.fill(stream, device, desc);
  is_stuck = true;
  return liar_host->error(TN_UNSUPPORTED, "no fills in graphs");
}

static tn_status launch_unless(bool is_refused, tn_backend_stream *stream,
                               tn_backend_kernel *kernel,
                               const tn_backend_launch_desc *desc,
                               const uint64_t *slots)
{
  if (is_refused)
    return liar_host->error(TN_CAPTURE_VIOLATION, "a capture goes on");
  return liar_base.launch.launch(stream, kernel, desc, slots);
}

static tn_status launch_unless_stuck(tn_backend_stream *stream,
                                     tn_backend_kernel *kernel,
                                     const tn_backend_launch_desc *desc,
                                     const uint64_t *slots)
{
  return launch_unless(is_stuck, stream, kernel, desc, slots);
}

/* Work of other streams, during a capture. */
static tn_status launch_alone(tn_backend_stream *stream,
                              tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              const uint64_t *slots)
{
  return launch_unless(captures > 0 && !is_captured(stream), stream, kernel,
                       desc, slots);
}

static void lie_runs(void)
{
  note_captures();
  liar_note_devices();
  liar_own.graph.capture_end = end_and_run;
}

static void lie_calls(void)
{
  note_captures();
  liar_own.stream.host_function = function_at_once;
}

static void lie_pinned(void)
{
  note_captures();
  liar_own.copy.copy = copy_as_it_is;
}

static void lie_none(void) { liar_own.graph.capture_after = after_none; }
static void lie_fewer(void) { liar_own.graph.capture_after = after_fewer; }

static void lie_any(void)
{
  note_captures();
  liar_own.graph.capture_after = NULL;
  liar_own.copy.copy = copy_loose;
  liar_own.copy.fill = fill_loose;
  liar_own.launch.launch = launch_loose;
}

static void lie_before(void) { liar_own.graph.capture_node = node_before; }

static void lie_half(void)
{
  note_captures();
  liar_own.graph.capture_after = after_half;
  liar_own.graph.capture_node = node_half;
  liar_own.copy.fill = fill_in_two;
}

static void lie_dropping(bool (*dropped)(unsigned number))
{
  note_captures();
  is_dropped = dropped;
  liar_own.launch.launch = launch_unless_dropped;
}

static void lie_dropped(void) { lie_dropping(is_fourth); }
static void lie_limit(void) { lie_dropping(is_beyond); }

static void lie_status(void)
{
  note_captures();
  liar_own.copy.fill = fill_invalid;
}

static void lie_stuck(void)
{
  note_captures();
  liar_own.copy.fill = fill_refused;
  liar_own.launch.launch = launch_unless_stuck;
}

static void lie_alone(void)
{
  note_captures();
  liar_own.launch.launch = launch_alone;
}

const liar_lie liar_capture_lies[] = {
  { "capture_runs", lie_runs },
  { "capture_calls", lie_calls },
  { "capture_pinned_early", lie_pinned },
  { "capture_after_none", lie_none },
  { "capture_after_fewer", lie_fewer },
  { "capture_any_order", lie_any },
  { "capture_node_before", lie_before },
  { "capture_node_half", lie_half },
  { "capture_node_dropped", lie_dropped },
  { "capture_node_limit", lie_limit },
  { "capture_refusal_status", lie_status },
  { "capture_stuck", lie_stuck },
  { "capture_alone", lie_alone },
  { NULL, NULL },
};

/* ---- no lie: captured fills are refused as they may be ---- */

static tn_status fill_unsupported(tn_backend_stream *stream,
                                  tn_backend_device *device,
                                  const tn_fill_desc *desc)
{
  if (is_captured(stream))
    return liar_host->error(TN_UNSUPPORTED, "no fills in graphs");
  return liar_base.copy.fill(stream, device, desc);
}

void liar_refuse_captured_fills(void)
{
  note_captures();
  liar_own.copy.fill = fill_unsupported;
}
