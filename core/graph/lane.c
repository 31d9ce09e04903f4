/* Streams that are being captured. */
#include "config.h"

#include <stdlib.h>

#include "core/graph/graph.h"
#include "core/memory/pool.h"

tn_status tn_lane_add(tn_graph *graph, tn_stream *stream,
                      const tn_numbers *tails)
{
  tn_lane *lane = calloc(1, sizeof *lane);
  if (!lane)
    return tn_error(TN_OUT_OF_MEMORY, "no memory to capture a stream");
  tn_status status = tails ? tn_nodes_merge(&graph->nodes, &lane->tails, tails)
                           : TN_OK;
  if (status == TN_OK) status = tn_pool_route(stream, graph->pool);
  if (status != TN_OK) {
    tn_numbers_clear(&lane->tails);
    free(lane);
    return status;
  }
  lane->graph = graph;
  lane->stream = tn_stream_retain(stream);
  lane->number = graph->lane_count++;
  lane->next = graph->lanes;
  graph->lanes = lane;
  /* Nothing may take the way past the queue. */
  lane->was_eager = stream->is_eager;
  lane->was_inline = stream->is_inline;
  stream->is_eager = stream->is_inline = false;
  atomic_store_explicit(&stream->lane, lane, memory_order_release);
  return TN_OK;
}

void tn_lanes_end(tn_graph *graph)
{
  while (graph->lanes) {
    tn_lane *lane = graph->lanes;
    tn_stream *stream = lane->stream;
    graph->lanes = lane->next;
    atomic_store_explicit(&stream->lane, NULL, memory_order_release);
    stream->is_eager = lane->was_eager;
    stream->is_inline = lane->was_inline;
    tn_pool_route(stream, NULL);
    tn_stream_release(stream);
    tn_numbers_clear(&lane->tails);
    free(lane);
  }
  graph->lane_count = 0;
}

/* Backward from the origin's tails; dependencies have lower numbers. */
static bool *mark_reached(const tn_graph *graph, const tn_lane *origin)
{
  size_t count = graph->nodes.count;
  bool *reached = calloc(count + 1, sizeof *reached);
  if (!reached) return NULL;
  for (uint32_t i = 0; i < origin->tails.count; i++)
    reached[origin->tails.items[i]] = true;
  for (size_t at = count; at-- > 0; ) {
    const tn_numbers *before = &graph->nodes.items[at].dependencies;
    for (uint32_t i = 0; reached[at] && i < before->count; i++)
      reached[before->items[i]] = true;
  }
  return reached;
}

bool tn_lanes_find_unjoined(const tn_graph *graph, const tn_lane **found)
{
  const tn_lane *origin = graph->lanes;
  while (origin->next) origin = origin->next;
  bool *reached = mark_reached(graph, origin);
  *found = NULL;
  if (!reached) return false;
  for (const tn_lane *lane = graph->lanes; lane && !*found; lane = lane->next)
    for (uint32_t i = 0; i < lane->tails.count; i++)
      if (!reached[lane->tails.items[i]]) *found = lane;
  free(reached);
  return true;
}
