#include "config.h"

#include "backends/opencl/error.h"

#include "backends/opencl/device.h"

#define CODES(X) \
  X(SUCCESS) X(DEVICE_NOT_FOUND) X(DEVICE_NOT_AVAILABLE) \
  X(COMPILER_NOT_AVAILABLE) X(MEM_OBJECT_ALLOCATION_FAILURE) \
  X(OUT_OF_RESOURCES) X(OUT_OF_HOST_MEMORY) X(PROFILING_INFO_NOT_AVAILABLE) \
  X(MEM_COPY_OVERLAP) X(BUILD_PROGRAM_FAILURE) X(MAP_FAILURE) \
  X(MISALIGNED_SUB_BUFFER_OFFSET) \
  X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) X(COMPILE_PROGRAM_FAILURE) \
  X(LINKER_NOT_AVAILABLE) X(LINK_PROGRAM_FAILURE) \
  X(KERNEL_ARG_INFO_NOT_AVAILABLE) X(INVALID_VALUE) X(INVALID_DEVICE_TYPE) \
  X(INVALID_PLATFORM) X(INVALID_DEVICE) X(INVALID_CONTEXT) \
  X(INVALID_QUEUE_PROPERTIES) X(INVALID_COMMAND_QUEUE) X(INVALID_HOST_PTR) \
  X(INVALID_MEM_OBJECT) X(INVALID_BINARY) X(INVALID_BUILD_OPTIONS) \
  X(INVALID_PROGRAM) X(INVALID_PROGRAM_EXECUTABLE) X(INVALID_KERNEL_NAME) \
  X(INVALID_KERNEL_DEFINITION) X(INVALID_KERNEL) X(INVALID_ARG_INDEX) \
  X(INVALID_ARG_VALUE) X(INVALID_ARG_SIZE) X(INVALID_KERNEL_ARGS) \
  X(INVALID_WORK_DIMENSION) X(INVALID_WORK_GROUP_SIZE) \
  X(INVALID_WORK_ITEM_SIZE) X(INVALID_GLOBAL_OFFSET) \
  X(INVALID_EVENT_WAIT_LIST) X(INVALID_EVENT) X(INVALID_OPERATION) \
  X(INVALID_BUFFER_SIZE) X(INVALID_GLOBAL_WORK_SIZE) X(INVALID_PROPERTY)

const char *tn_opencl_code_name(cl_int code)
{
  switch (code) {
#define CASE(name) case CL_##name: return "CL_" #name;
    CODES(CASE)
#undef CASE
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR"; /* cl_khr_icd */
    default: return "an unknown code";
  }
}

tn_status tn_opencl_code_status(cl_int code)
{
  switch (code) {
    case CL_SUCCESS:
      return TN_OK;
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return TN_OUT_OF_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE:
      return TN_DEVICE_LOST;
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
      return TN_INVALID_ARGUMENT;
    default:
      return TN_LAUNCH_FAILED;
  }
}

tn_status tn_opencl_check(cl_int code, const char *call,
                          const tn_backend_device *device)
{
  if (code == CL_SUCCESS) return TN_OK;
  return tn_host->error(tn_opencl_code_status(code),
                        "%s answered %s (%d) on %s", call,
                        tn_opencl_code_name(code), code, device->info.name);
}
