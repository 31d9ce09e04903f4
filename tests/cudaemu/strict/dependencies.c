/* What is known of a capture, and what comes after what in it. */
#include <unistd.h>

#include "tests/cudaemu/strict/strict.h"

static int info_last_node(void)
{
  CUstreamCaptureStatus status;
  CUgraph graph = NULL;
  const CUgraphNode *nodes = NULL;
  CUgraphNode all[2];
  size_t count = 0;
  begin_with_work(GLOBAL);
  put_in(streams[0]);
  put_in(streams[0]);
  need(cu.StreamGetCaptureInfo(streams[0], &status, NULL, &graph, &nodes,
                               &count), "cuStreamGetCaptureInfo");
  if (status != TN_CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) return -1;
  CUgraphNode last = nodes[0];
  if (nodes_of(graph, all, 2) != 2 || all[1] != last) return -2;
  return end() == graph ? 0 : -3;
}

static uint64_t id_of(CUstream stream)
{
  CUstreamCaptureStatus status;
  uint64_t id = 0;
  need(cu.StreamGetCaptureInfo(stream, &status, &id, NULL, NULL, NULL),
       "cuStreamGetCaptureInfo");
  return id;
}

static int info_ids(void)
{
  begin();
  begin_in(streams[1], GLOBAL);
  return id_of(streams[0]) != id_of(streams[1]) ? 0 : 1;
}

static int info_of_fork(void)
{
  begin();
  come_after(streams[0], streams[1]);
  return id_of(streams[0]) == id_of(streams[1]) ? 0 : 1;
}

static int info_none(void)
{
  CUstreamCaptureStatus status = (CUstreamCaptureStatus)7;
  cu.StreamGetCaptureInfo(streams[0], &status, NULL, NULL, NULL, NULL);
  return (int)status;
}

/* Dependencies that the program sets */

static CUgraphNode node_in(CUstream stream)
{
  CUstreamCaptureStatus status;
  const CUgraphNode *nodes = NULL;
  size_t count = 0;
  put_in(stream);
  need(cu.StreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, &count),
       "cuStreamGetCaptureInfo");
  return count == 1 ? nodes[0] : NULL;
}

static CUresult set_after(CUgraphNode *nodes, size_t count, unsigned flags)
{
  return cu.StreamUpdateCaptureDependencies(streams[0], nodes, count, flags);
}

static size_t edges_of(CUgraph graph)
{
  size_t count = 0;
  need(cu.GraphGetEdges(graph, NULL, NULL, &count), "cuGraphGetEdges");
  return count;
}

static int set_idle(void)
{
  return (int)cu.StreamUpdateCaptureDependencies(streams[0], NULL, 0, 1);
}

static int set_flags(void)
{
  begin();
  return (int)set_after(NULL, 0, 2);
}

static int set_none(void)
{
  begin_with_work(GLOBAL);
  put_in(streams[0]);
  need(set_after(NULL, 0, 1), "cuStreamUpdateCaptureDependencies");
  put_in(streams[0]);
  CUgraph graph = end();
  return (int)(10 * nodes_of(graph, NULL, 0) + edges_of(graph));
}

static int set_left(void)
{
  begin_with_work(GLOBAL);
  put_in(streams[0]);
  need(set_after(NULL, 0, 1), "cuStreamUpdateCaptureDependencies");
  return end_code();
}

static int set_both(void)
{
  CUgraphNode nodes[2];
  begin_with_work(GLOBAL);
  nodes[0] = node_in(streams[0]);
  need(set_after(NULL, 0, 1), "cuStreamUpdateCaptureDependencies");
  nodes[1] = node_in(streams[0]);
  need(set_after(nodes, 2, 1), "cuStreamUpdateCaptureDependencies");
  put_in(streams[0]);
  CUgraph graph = end();
  return (int)(10 * nodes_of(graph, NULL, 0) + edges_of(graph));
}

static int set_more(void)
{
  begin_with_work(GLOBAL);
  CUgraphNode node = node_in(streams[0]);
  need(set_after(NULL, 0, 1), "cuStreamUpdateCaptureDependencies");
  put_in(streams[0]);
  need(set_after(&node, 1, 0), "cuStreamUpdateCaptureDependencies");
  put_in(streams[0]);
  return (int)edges_of(end());
}

static int set_foreign(void)
{
  begin_with_work(GLOBAL);
  CUgraphNode node = node_in(streams[0]);
  end();
  begin();
  return (int)set_after(&node, 1, 1);
}

/* The newer forms of these calls, which tell of data of edges. */

static void need_newer(int is_there)
{
  if (!is_there) _exit(77);
}

static int info_edges(void)
{
  CUstreamCaptureStatus status;
  const CUgraphNode *nodes = NULL;
  const CUgraphEdgeData *edges = NULL;
  size_t count = 0;
  need_newer(cu.StreamGetCaptureInfo_v3 != NULL);
  begin_with_work(GLOBAL);
  put_in(streams[0]);
  int code = (int)cu.StreamGetCaptureInfo_v3(streams[0], &status, NULL, NULL,
                                             &nodes, &edges, &count);
  return code || count != 1 ? -1 : edges[0].type + edges[0].from_port;
}

static int info_lone_edges(void)
{
  CUstreamCaptureStatus status;
  const CUgraphEdgeData *edges = NULL;
  need_newer(cu.StreamGetCaptureInfo_v3 != NULL);
  begin();
  return (int)cu.StreamGetCaptureInfo_v3(streams[0], &status, NULL, NULL, NULL,
                                         &edges, NULL);
}

static int set_edges(void)
{
  const CUgraphEdgeData plain = { 0 };
  need_newer(cu.StreamUpdateCaptureDependencies_v2 &&
             cu.GraphGetEdges_v2);
  begin_with_work(GLOBAL);
  CUgraphNode node = node_in(streams[0]);
  put_in(streams[0]);
  need(cu.StreamUpdateCaptureDependencies_v2(streams[0], &node, &plain, 1, 1),
       "cuStreamUpdateCaptureDependencies");
  put_in(streams[0]);
  CUgraphEdgeData edges[2] = { { .type = 9 }, { .type = 9 } };
  CUgraphNode froms[2] = { NULL, NULL }, tos[2] = { NULL, NULL };
  size_t count = 2;
  need(cu.GraphGetEdges_v2(end(), froms, tos, edges, &count),
       "cuGraphGetEdges");
  return (int)(10 * count) + edges[1].type +
         (froms[0] != node || froms[1] != node);
}

static int wait_for_word(void)
{
  uint32_t *word = take_pinned(4);
  begin();
  return (int)cu.StreamWaitValue32(streams[0], (CUdeviceptr)(uintptr_t)word,
                                   1, 0);
}

static const strict_case cases[] = {
  { "the next node comes after the last one", DOCUMENTED, 0,
    .run = info_last_node },
  { "captures have numbers", DOCUMENTED, 0, .run = info_ids },
  { "a fork has its capture's", DOCUMENTED, 0, .run = info_of_fork },
  { "a stream that does not capture says so", DOCUMENTED, 0,
    .run = info_none },
  { "dependencies of a stream that does not capture", DOCUMENTED, 401,
    .run = set_idle },
  { "with unknown flags", DOCUMENTED, 1, .run = set_flags },
  { "set to none: two nodes, no edge", DOCUMENTED, 20, .run = set_none },
  { "what is left so need not be joined", DOCUMENTED, 0, .run = set_left },
  { "set to two: three nodes, two edges", DOCUMENTED, 32, .run = set_both },
  { "added to: two edges", DOCUMENTED, 2, .run = set_more },
  { "to a node of another graph", ASSUMED, 1, .run = set_foreign },
  { "edges have data, all zero", DOCUMENTED, 0, .run = info_edges,
    .settings = "TENON_CUDAEMU_DRIVER=13.0" },
  { "which are not asked for without nodes", DOCUMENTED, 1,
    .run = info_lone_edges, .settings = "TENON_CUDAEMU_DRIVER=13.0" },
  { "and may be given", DOCUMENTED, 20, .run = set_edges,
    .settings = "TENON_CUDAEMU_DRIVER=13.0" },
  { "a wait for a word is not captured", OURS, 801, .run = wait_for_word },
};

void strict_dependencies(void) { STRICT_RUN(cases); }
