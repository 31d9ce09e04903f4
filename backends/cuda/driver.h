/* What this backend uses of the CUDA driver, in our own words: NVIDIA's cuda.h
 * may not be passed on and is not needed. Where it was included before, its
 * types stand for ours; tests/cuda_declarations.c compares all of it. */
#ifndef TN_CUDA_DRIVER_H
#define TN_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifndef __cuda_cuda_h__
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute, CUfunction_attribute, CUjit_option,
    CUmemorytype, CUpointer_attribute, CUstreamCaptureMode,
    CUstreamCaptureStatus;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUkern_st *CUkernel;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef uint64_t cuuint64_t;
typedef void (*CUhostFn)(void *);
typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;

typedef struct CUDA_MEMCPY3D_st {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void *reserved0;
  size_t srcPitch, srcHeight; /* height: rows from plane to plane */
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
  CUkernel kern; /* in place of func */
  CUcontext ctx; /* NULL: the current one */
} CUDA_KERNEL_NODE_PARAMS;
#endif

#define TN_CUDA_OFFSET_(member, offset) \
  _Static_assert(offsetof(CUDA_MEMCPY3D, member) == (offset), #member);
TN_CUDA_OFFSET_(srcMemoryType, 32)
TN_CUDA_OFFSET_(srcHost, 40)
TN_CUDA_OFFSET_(srcDevice, 48)
TN_CUDA_OFFSET_(srcPitch, 72)
TN_CUDA_OFFSET_(dstMemoryType, 120)
TN_CUDA_OFFSET_(dstHost, 128)
TN_CUDA_OFFSET_(dstDevice, 136)
TN_CUDA_OFFSET_(dstPitch, 160)
TN_CUDA_OFFSET_(WidthInBytes, 176)
TN_CUDA_OFFSET_(Depth, 192)
_Static_assert(sizeof(CUDA_MEMCPY3D) == 200, "size of CUDA_MEMCPY3D");
_Static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams) == 40 &&
                   offsetof(CUDA_KERNEL_NODE_PARAMS, ctx) == 64 &&
                   sizeof(CUDA_KERNEL_NODE_PARAMS) == 72,
               "layout of CUDA_KERNEL_NODE_PARAMS");
_Static_assert(sizeof(CUuuid) == 16, "size of CUuuid");
_Static_assert(sizeof(CUresult) == 4 && sizeof(CUdevice) == 4 &&
                   sizeof(CUmemorytype) == 4 && sizeof(CUjit_option) == 4,
               "enumerations are ints");

/* X(NAME, value): TN_NAME here is NAME in cuda.h. */
#define TN_CUDA_CONSTANTS(X) \
  X(CUDA_SUCCESS, 0) \
  X(CUDA_ERROR_INVALID_VALUE, 1) \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2) \
  X(CUDA_ERROR_NOT_INITIALIZED, 3) \
  X(CUDA_ERROR_DEINITIALIZED, 4) \
  X(CUDA_ERROR_STUB_LIBRARY, 34) \
  X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46) \
  X(CUDA_ERROR_NO_DEVICE, 100) \
  X(CUDA_ERROR_INVALID_DEVICE, 101) \
  X(CUDA_ERROR_INVALID_IMAGE, 200) \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209) \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214) \
  X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217) \
  X(CUDA_ERROR_INVALID_PTX, 218) \
  X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220) \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222) \
  X(CUDA_ERROR_CONTAINED, 226) \
  X(CUDA_ERROR_INVALID_SOURCE, 300) \
  X(CUDA_ERROR_INVALID_HANDLE, 400) \
  X(CUDA_ERROR_ILLEGAL_STATE, 401) \
  X(CUDA_ERROR_NOT_FOUND, 500) \
  X(CUDA_ERROR_NOT_READY, 600) \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700) \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701) \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702) \
  X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704) \
  X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705) \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709) \
  X(CUDA_ERROR_ASSERT, 710) \
  X(CUDA_ERROR_TOO_MANY_PEERS, 711) \
  X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712) \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713) \
  X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714) \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715) \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, 716) \
  X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717) \
  X(CUDA_ERROR_INVALID_PC, 718) \
  X(CUDA_ERROR_LAUNCH_FAILED, 719) \
  X(CUDA_ERROR_TENSOR_MEMORY_LEAK, 721) \
  X(CUDA_ERROR_NOT_PERMITTED, 800) \
  X(CUDA_ERROR_NOT_SUPPORTED, 801) \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803) \
  X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804) \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900) \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901) \
  X(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902) \
  X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903) \
  X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904) \
  X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905) \
  X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906) \
  X(CUDA_ERROR_CAPTURED_EVENT, 907) \
  X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908) \
  X(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910) \
  X(CUDA_ERROR_EXTERNAL_DEVICE, 911) \
  X(CUDA_ERROR_UNKNOWN, 999) \
  X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1) \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2) \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3) \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4) \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5) \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6) \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7) \
  X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10) \
  X(CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11) \
  X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16) \
  X(CU_DEVICE_ATTRIBUTE_INTEGRATED, 18) \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20) \
  X(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41) \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75) \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76) \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97) \
  X(CU_COMPUTEMODE_PROHIBITED, 2) \
  X(CU_STREAM_NON_BLOCKING, 1) \
  X(CU_EVENT_DEFAULT, 0) \
  X(CU_EVENT_BLOCKING_SYNC, 1) \
  X(CU_EVENT_DISABLE_TIMING, 2) \
  X(CU_STREAM_WAIT_VALUE_GEQ, 0) \
  X(CU_MEMHOSTALLOC_PORTABLE, 1) \
  X(CU_MEMHOSTREGISTER_PORTABLE, 1) \
  X(CU_MEMORYTYPE_HOST, 1) \
  X(CU_MEMORYTYPE_DEVICE, 2) \
  X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2) \
  X(CU_STREAM_CAPTURE_MODE_GLOBAL, 0) \
  X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1) \
  X(CU_STREAM_CAPTURE_MODE_RELAXED, 2) \
  X(CU_STREAM_CAPTURE_STATUS_NONE, 0) \
  X(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1) \
  X(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2) \
  X(CU_GRAPH_NODE_TYPE_KERNEL, 0) \
  X(CU_GRAPH_NODE_TYPE_MEMCPY, 1) \
  X(CU_GRAPH_NODE_TYPE_MEMSET, 2) \
  X(CU_GRAPH_NODE_TYPE_HOST, 3) \
  X(CU_STREAM_SET_CAPTURE_DEPENDENCIES, 1) \
  X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0) \
  X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1) \
  X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3) \
  X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8) \
  X(CU_JIT_INFO_LOG_BUFFER, 3) \
  X(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4) \
  X(CU_JIT_ERROR_LOG_BUFFER, 5) \
  X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)

enum {
#define TN_CUDA_CONSTANT_(name, value) TN_##name = (value),
  TN_CUDA_CONSTANTS(TN_CUDA_CONSTANT_)
#undef TN_CUDA_CONSTANT_
};

/* X(NAME, version, (parameters)): cu_.NAME is what cuGetProcAddress gives for
 * the base name "cuNAME" and that version. Each is asked for by the version in
 * which this form of it came up: a driver refuses versions above its own. All
 * of them return CUresult. */
#define TN_CUDA_REQUIRED(X) \
  X(Init, 2000, (unsigned flags)) \
  X(DriverGetVersion, 2020, (int *version)) \
  X(GetErrorName, 6000, (CUresult code, const char **text)) \
  X(GetErrorString, 6000, (CUresult code, const char **text)) \
  X(DeviceGetCount, 2000, (int *count)) \
  X(DeviceGet, 2000, (CUdevice *device, int ordinal)) \
  X(DeviceGetName, 2000, (char *name, int size, CUdevice device)) \
  X(DeviceGetUuid, 11040, (CUuuid *uuid, CUdevice device)) \
  X(DeviceTotalMem, 3020, (size_t *bytes, CUdevice device)) \
  X(DeviceGetAttribute, 2000, \
    (int *value, CUdevice_attribute what, CUdevice device)) \
  X(DeviceGetPCIBusId, 4010, (char *id, int size, CUdevice device)) \
  X(DeviceCanAccessPeer, 4000, \
    (int *possible, CUdevice device, CUdevice peer)) \
  X(DevicePrimaryCtxRetain, 7000, (CUcontext *context, CUdevice device)) \
  X(DevicePrimaryCtxRelease, 11000, (CUdevice device)) \
  X(CtxSetCurrent, 4000, (CUcontext context)) \
  X(CtxGetCurrent, 4000, (CUcontext *context)) \
  X(CtxGetStreamPriorityRange, 5050, (int *least, int *greatest)) \
  X(CtxEnablePeerAccess, 4000, (CUcontext peer, unsigned flags)) \
  X(CtxDisablePeerAccess, 4000, (CUcontext peer)) \
  X(MemGetInfo, 3020, (size_t *free_bytes, size_t *total)) \
  X(MemAlloc, 3020, (CUdeviceptr *address, size_t bytes)) \
  X(MemFree, 3020, (CUdeviceptr address)) \
  X(MemHostAlloc, 2020, (void **memory, size_t bytes, unsigned flags)) \
  X(MemFreeHost, 2000, (void *memory)) \
  X(MemHostRegister, 6050, (void *memory, size_t bytes, unsigned flags)) \
  X(MemHostUnregister, 4000, (void *memory)) \
  X(PointerGetAttribute, 4000, \
    (void *value, CUpointer_attribute what, CUdeviceptr address)) \
  X(MemcpyHtoDAsync, 3020, \
    (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)) \
  X(MemcpyDtoHAsync, 3020, \
    (void *dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
  X(MemcpyDtoDAsync, 3020, \
    (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)) \
  X(MemcpyPeerAsync, 4000, \
    (CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, \
     CUcontext src_context, size_t bytes, CUstream stream)) \
  X(Memcpy3DAsync, 3020, (const CUDA_MEMCPY3D *copy, CUstream stream)) \
  X(MemsetD8Async, 3020, \
    (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)) \
  X(MemsetD16Async, 3020, \
    (CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)) \
  X(MemsetD32Async, 3020, \
    (CUdeviceptr dst, unsigned value, size_t count, CUstream stream)) \
  X(MemsetD2D32Async, 3020, \
    (CUdeviceptr dst, size_t pitch, unsigned value, size_t width, \
     size_t height, CUstream stream)) \
  X(StreamCreateWithPriority, 5050, \
    (CUstream *stream, unsigned flags, int priority)) \
  X(StreamDestroy, 4000, (CUstream stream)) \
  X(StreamSynchronize, 2000, (CUstream stream)) \
  X(StreamQuery, 2000, (CUstream stream)) \
  X(StreamWaitEvent, 3020, \
    (CUstream stream, CUevent event, unsigned flags)) \
  X(StreamGetCtx, 9020, (CUstream stream, CUcontext *context)) \
  X(StreamWaitValue32, 11070, \
    (CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags)) \
  X(EventCreate, 2000, (CUevent *event, unsigned flags)) \
  X(EventDestroy, 4000, (CUevent event)) \
  X(EventRecord, 2000, (CUevent event, CUstream stream)) \
  X(EventSynchronize, 2000, (CUevent event)) \
  X(EventQuery, 2000, (CUevent event)) \
  X(EventElapsedTime, 2000, (float *milliseconds, CUevent start, CUevent end)) \
  X(LaunchKernel, 4000, \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, \
     CUstream stream, void **parameters, void **extra)) \
  X(ModuleLoadDataEx, 2010, \
    (CUmodule *module, const void *image, unsigned option_count, \
     CUjit_option *options, void **values)) \
  X(ModuleUnload, 2000, (CUmodule module)) \
  X(ModuleGetFunction, 2000, \
    (CUfunction *function, CUmodule module, const char *name)) \
  X(ModuleGetGlobal, 3020, \
    (CUdeviceptr *address, size_t *bytes, CUmodule module, \
     const char *name)) \
  X(FuncGetAttribute, 2020, \
    (int *value, CUfunction_attribute what, CUfunction function)) \
  X(FuncSetAttribute, 9000, \
    (CUfunction function, CUfunction_attribute what, int value)) \
  X(OccupancyMaxActiveBlocksPerMultiprocessor, 6050, \
    (int *blocks, CUfunction function, int block, size_t shared)) \
  X(ThreadExchangeStreamCaptureMode, 10010, (CUstreamCaptureMode *mode))

/* NULL where the driver is older. */
#define TN_CUDA_OPTIONAL(X) X(FuncLoad, 12040, (CUfunction function))

/* All there, or no graphs. */
#define TN_CUDA_GRAPHS(X) \
  X(StreamBeginCapture, 10010, (CUstream stream, CUstreamCaptureMode mode)) \
  X(StreamEndCapture, 10000, (CUstream stream, CUgraph *graph)) \
  X(StreamGetCaptureInfo, 11030, \
    (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, \
     CUgraph *graph, const CUgraphNode **nodes, size_t *count)) \
  X(StreamUpdateCaptureDependencies, 11030, \
    (CUstream stream, CUgraphNode *nodes, size_t count, unsigned flags)) \
  X(LaunchHostFunc, 10000, \
    (CUstream stream, CUhostFn function, void *argument)) \
  X(GraphInstantiateWithFlags, 11040, \
    (CUgraphExec *exec, CUgraph graph, unsigned long long flags)) \
  X(GraphLaunch, 10000, (CUgraphExec exec, CUstream stream)) \
  X(GraphExecKernelNodeSetParams, 12000, \
    (CUgraphExec exec, CUgraphNode node, \
     const CUDA_KERNEL_NODE_PARAMS *parameters)) \
  X(GraphExecDestroy, 10000, (CUgraphExec exec)) \
  X(GraphDestroy, 10000, (CUgraph graph))

typedef struct tn_cuda_calls {
#define TN_CUDA_MEMBER_(name, version, parameters) \
  CUresult(*name) parameters;
  TN_CUDA_REQUIRED(TN_CUDA_MEMBER_)
  TN_CUDA_OPTIONAL(TN_CUDA_MEMBER_)
  TN_CUDA_GRAPHS(TN_CUDA_MEMBER_)
#undef TN_CUDA_MEMBER_
} tn_cuda_calls;

#endif
