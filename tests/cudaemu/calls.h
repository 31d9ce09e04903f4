/* What the driver has, and the plugin does not use, as driver.h says it. */
#ifndef TN_TESTS_CUDAEMU_CALLS_H
#define TN_TESTS_CUDAEMU_CALLS_H

#include "backends/cuda/driver.h"

#ifndef __cuda_cuda_h__
typedef int CUgraphNodeType;

typedef struct CUDA_MEMSET_NODE_PARAMS_st {
  CUdeviceptr dst;
  size_t pitch; /* where height is more than 1 */
  unsigned value;
  unsigned elementSize; /* bytes: 1, 2, 4 */
  size_t width;         /* elements */
  size_t height;        /* rows */
} CUDA_MEMSET_NODE_PARAMS;

typedef struct CUDA_HOST_NODE_PARAMS_st {
  CUhostFn fn;
  void *userData;
} CUDA_HOST_NODE_PARAMS;

typedef struct CUgraphEdgeData_st {
  unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;

typedef int CUgraphExecUpdateResult;
typedef struct CUgraphExecUpdateResultInfo_st {
  CUgraphExecUpdateResult result;
  CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;
#endif

_Static_assert(offsetof(CUDA_MEMSET_NODE_PARAMS, value) == 16 &&
                   offsetof(CUDA_MEMSET_NODE_PARAMS, width) == 24 &&
                   sizeof(CUDA_MEMSET_NODE_PARAMS) == 40,
               "layout of CUDA_MEMSET_NODE_PARAMS");
_Static_assert(offsetof(CUDA_HOST_NODE_PARAMS, userData) == 8 &&
                   sizeof(CUDA_HOST_NODE_PARAMS) == 16,
               "layout of CUDA_HOST_NODE_PARAMS");
_Static_assert(sizeof(CUgraphEdgeData) == 8, "size of CUgraphEdgeData");
_Static_assert(offsetof(CUgraphExecUpdateResultInfo, errorNode) == 8 &&
                   sizeof(CUgraphExecUpdateResultInfo) == 24,
               "layout of CUgraphExecUpdateResultInfo");

/* X(NAME, value) */
#define EMU_CONSTANTS(X) \
  X(CU_GRAPH_EXEC_UPDATE_SUCCESS, 0) \
  X(CU_GRAPH_EXEC_UPDATE_ERROR, 1) \
  X(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, 2) \
  X(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, 3) \
  X(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, 5) \
  X(CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, 6) \
  X(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, 7)

enum {
#define EMU_CONSTANT_(name, value) TN_##name = (value),
  EMU_CONSTANTS(EMU_CONSTANT_)
#undef EMU_CONSTANT_
};

/* X(FUNCTION, NAME, version, (parameters)): "cuNAME" of that version is
 * emu_FUNCTION. A call that the plugin begins to use moves to driver.h. */
#define EMU_CALLS_MORE(X) \
  X(CtxSynchronize, CtxSynchronize, 2000, (void)) \
  X(StreamIsCapturing, StreamIsCapturing, 10000, \
    (CUstream stream, CUstreamCaptureStatus *status)) \
  X(StreamGetCaptureInfo_v3, StreamGetCaptureInfo, 12030, \
    (CUstream stream, CUstreamCaptureStatus *status, uint64_t *id, \
     CUgraph *graph, const CUgraphNode **dependencies, \
     const CUgraphEdgeData **edges, size_t *dependency_count)) \
  X(GraphGetNodes, GraphGetNodes, 10000, \
    (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
  X(GraphGetRootNodes, GraphGetRootNodes, 10000, \
    (CUgraph graph, CUgraphNode *nodes, size_t *count)) \
  X(GraphGetEdges, GraphGetEdges, 10000, \
    (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)) \
  X(GraphGetEdges_v2, GraphGetEdges, 12030, \
    (CUgraph graph, CUgraphNode *from, CUgraphNode *to, \
     CUgraphEdgeData *edges, size_t *count)) \
  X(GraphNodeGetType, GraphNodeGetType, 10000, \
    (CUgraphNode node, CUgraphNodeType *type)) \
  X(GraphKernelNodeGetParams, GraphKernelNodeGetParams, 12000, \
    (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)) \
  X(GraphKernelNodeSetParams, GraphKernelNodeSetParams, 12000, \
    (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)) \
  X(GraphMemcpyNodeGetParams, GraphMemcpyNodeGetParams, 10000, \
    (CUgraphNode node, CUDA_MEMCPY3D *copy)) \
  X(GraphMemsetNodeGetParams, GraphMemsetNodeGetParams, 10000, \
    (CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *fill)) \
  X(GraphHostNodeGetParams, GraphHostNodeGetParams, 10000, \
    (CUgraphNode node, CUDA_HOST_NODE_PARAMS *call)) \
  X(StreamUpdateCaptureDependencies_v2, StreamUpdateCaptureDependencies, \
    12030, \
    (CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges, \
     size_t count, unsigned flags)) \
  X(GraphExecMemcpyNodeSetParams, GraphExecMemcpyNodeSetParams, 10020, \
    (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy, \
     CUcontext context)) \
  X(GraphExecMemsetNodeSetParams, GraphExecMemsetNodeSetParams, 10020, \
    (CUgraphExec exec, CUgraphNode node, \
     const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)) \
  X(GraphExecHostNodeSetParams, GraphExecHostNodeSetParams, 10020, \
    (CUgraphExec exec, CUgraphNode node, \
     const CUDA_HOST_NODE_PARAMS *call)) \
  X(GraphExecUpdate, GraphExecUpdate, 12000, \
    (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)) \
  X(GraphUpload, GraphUpload, 11010, (CUgraphExec exec, CUstream stream))

#endif
