/* The OpenCL calls this backend makes, found at run time. */
#ifndef TN_OPENCL_LOADER_H
#define TN_OPENCL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stddef.h>

/* Calls of OpenCL 1.2, all needed. */
#define TN_OPENCL_REQUIRED(X) \
  X(BuildProgram) \
  X(CreateBuffer) \
  X(CreateCommandQueue) \
  X(CreateContext) \
  X(CreateKernel) \
  X(CreateKernelsInProgram) \
  X(CreateProgramWithBinary) \
  X(CreateProgramWithSource) \
  X(CreateSubBuffer) \
  X(EnqueueBarrierWithWaitList) \
  X(EnqueueCopyBuffer) \
  X(EnqueueCopyBufferRect) \
  X(EnqueueFillBuffer) \
  X(EnqueueMapBuffer) \
  X(EnqueueMarkerWithWaitList) \
  X(EnqueueMigrateMemObjects) \
  X(EnqueueNDRangeKernel) \
  X(EnqueueReadBuffer) \
  X(EnqueueReadBufferRect) \
  X(EnqueueUnmapMemObject) \
  X(EnqueueWriteBuffer) \
  X(EnqueueWriteBufferRect) \
  X(Finish) \
  X(Flush) \
  X(GetCommandQueueInfo) \
  X(GetDeviceIDs) \
  X(GetDeviceInfo) \
  X(GetEventInfo) \
  X(GetEventProfilingInfo) \
  X(GetKernelArgInfo) \
  X(GetKernelInfo) \
  X(GetKernelWorkGroupInfo) \
  X(GetPlatformIDs) \
  X(GetPlatformInfo) \
  X(GetProgramBuildInfo) \
  X(GetProgramInfo) \
  X(ReleaseCommandQueue) \
  X(ReleaseContext) \
  X(ReleaseEvent) \
  X(ReleaseKernel) \
  X(ReleaseMemObject) \
  X(ReleaseProgram) \
  X(RetainEvent) \
  X(SetEventCallback) \
  X(SetKernelArg) \
  X(WaitForEvents)

/* Calls of OpenCL 2.0; NULL where the loader is older. */
#define TN_OPENCL_OPTIONAL(X) \
  X(CreateCommandQueueWithProperties) \
  X(EnqueueSVMMemFill) \
  X(EnqueueSVMMemcpy) \
  X(SetKernelArgSVMPointer) \
  X(SVMAlloc) \
  X(SVMFree)

typedef struct tn_opencl_calls {
#define TN_OPENCL_MEMBER_(name) __typeof__(cl##name) *name;
  TN_OPENCL_REQUIRED(TN_OPENCL_MEMBER_)
  TN_OPENCL_OPTIONAL(TN_OPENCL_MEMBER_)
#undef TN_OPENCL_MEMBER_
} tn_opencl_calls;

/* cl_.Finish(queue) is clFinish(queue). */
extern tn_opencl_calls cl_;

/* Opens libOpenCL.so.1 and fills cl_; NULL, or why it cannot be used, in
 * `reason`. Callers exclude each other. May be tried again after a failure;
 * does nothing after a success. */
const char *tn_opencl_load(char *reason, size_t size);

#endif
