#include "config.h"

#include "backends/cuda/error.h"

#include <stdio.h>

#include "backends/cuda/device.h"

const char *tn_cuda_code_text(CUresult code,
                              char text[TN_CUDA_CODE_TEXT_SIZE])
{
  const char *name = NULL, *meaning = NULL;
  if (cu_.GetErrorName(code, &name)) name = NULL;
  if (cu_.GetErrorString(code, &meaning)) meaning = NULL;
  snprintf(text, TN_CUDA_CODE_TEXT_SIZE, "%s (%d%s%s)",
           name ? name : "an unknown code", (int)code, meaning ? ": " : "",
           meaning ? meaning : "");
  return text;
}

bool tn_cuda_is_of_kernel(CUresult code)
{
  switch ((int)code) {
    case TN_CUDA_ERROR_ILLEGAL_ADDRESS:
    case TN_CUDA_ERROR_LAUNCH_TIMEOUT:
    case TN_CUDA_ERROR_ASSERT:
    case TN_CUDA_ERROR_HARDWARE_STACK_ERROR:
    case TN_CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case TN_CUDA_ERROR_MISALIGNED_ADDRESS:
    case TN_CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case TN_CUDA_ERROR_INVALID_PC:
    case TN_CUDA_ERROR_LAUNCH_FAILED:
    case TN_CUDA_ERROR_TENSOR_MEMORY_LEAK:
      return true;
    default:
      return false;
  }
}

bool tn_cuda_is_sticky(CUresult code)
{
  switch ((int)code) {
    case TN_CUDA_ERROR_ECC_UNCORRECTABLE:
    case TN_CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case TN_CUDA_ERROR_CONTAINED:
    case TN_CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case TN_CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return tn_cuda_is_of_kernel(code);
  }
}

tn_status tn_cuda_code_status(CUresult code)
{
  if (tn_cuda_is_sticky(code)) return TN_DEVICE_LOST;
  if ((int)code >= TN_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
      (int)code <= TN_CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    return TN_CAPTURE_VIOLATION;
  switch ((int)code) {
    case TN_CUDA_SUCCESS:
      return TN_OK;
    case TN_CUDA_ERROR_OUT_OF_MEMORY:
      return TN_OUT_OF_MEMORY;
    case TN_CUDA_ERROR_INVALID_VALUE:
    case TN_CUDA_ERROR_INVALID_HANDLE:
    case TN_CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
    case TN_CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:
      return TN_INVALID_ARGUMENT;
    case TN_CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
    case TN_CUDA_ERROR_TOO_MANY_PEERS:
    case TN_CUDA_ERROR_NOT_SUPPORTED:
      return TN_UNSUPPORTED;
    case TN_CUDA_ERROR_DEINITIALIZED:
      return TN_SHUT_DOWN;
    case TN_CUDA_ERROR_NOT_READY:
      return TN_NOT_READY;
    default:
      return TN_LAUNCH_FAILED;
  }
}

tn_status tn_cuda_check(CUresult code, const char *call,
                        tn_backend_device *device)
{
  if (code == TN_CUDA_SUCCESS) return TN_OK;
  char text[TN_CUDA_CODE_TEXT_SIZE];
  if (tn_cuda_is_sticky(code)) {
    tn_cuda_fail(device, code);
    return tn_host->error(TN_DEVICE_LOST, "%s: %s (noticed by %s)",
                          device->failure.who, device->failure.text, call);
  }
  return tn_host->error(tn_cuda_code_status(code), "%s answered %s on %s",
                        call, tn_cuda_code_text(code, text),
                        device->info.name);
}
