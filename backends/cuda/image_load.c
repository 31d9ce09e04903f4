#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "backends/cuda/capture.h"
#include "backends/cuda/module.h"

#define LOG_SIZE 4096

typedef struct jit_log {
  char errors[LOG_SIZE], notes[LOG_SIZE];
} jit_log;

static CUresult load(const void *image, CUmodule *module, jit_log *log)
{
  CUjit_option options[] = {
    (CUjit_option)TN_CU_JIT_ERROR_LOG_BUFFER,
    (CUjit_option)TN_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    (CUjit_option)TN_CU_JIT_INFO_LOG_BUFFER,
    (CUjit_option)TN_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
  };
  void *values[] = { log->errors, (void *)(uintptr_t)sizeof log->errors,
                     log->notes, (void *)(uintptr_t)sizeof log->notes };
  CUstreamCaptureMode mode = tn_cuda_relax(TN_CUDA_RELAXED);
  CUresult code = cu_.ModuleLoadDataEx(module, image, 4, options, values);
  tn_cuda_relax(mode);
  log->errors[LOG_SIZE - 1] = log->notes[LOG_SIZE - 1] = '\0';
  return code;
}

static void log_lines(tn_log_level level, const char *name, const char *text)
{
  while (*text) {
    size_t length = strcspn(text, "\n");
    if (length)
      tn_host->log(level, "cuda: module \"%s\": %.*s", name, (int)length,
                   text);
    text += length;
    text += *text == '\n';
  }
}

/* Codes that say that the image itself is at fault. */
static bool is_of_image(CUresult code)
{
  switch ((int)code) {
    case TN_CUDA_ERROR_INVALID_IMAGE:
    case TN_CUDA_ERROR_NO_BINARY_FOR_GPU:
    case TN_CUDA_ERROR_INVALID_PTX:
    case TN_CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case TN_CUDA_ERROR_INVALID_SOURCE:
      return true;
    default:
      return false;
  }
}

tn_status tn_cuda_image_load(tn_backend_device *device, const char *name,
                             const void *image, tn_log_level level,
                             CUmodule *module)
{
  jit_log log = { "", "" };
  char text[TN_CUDA_CODE_TEXT_SIZE];
  CUresult code = load(image, module, &log);
  log_lines(TN_LOG_DEBUG, name, log.notes);
  if (code == TN_CUDA_SUCCESS) return TN_OK;
  if (!is_of_image(code))
    return tn_cuda_check(code, "cuModuleLoadDataEx", device);
  log_lines(level, name, log.errors);
  size_t blank = strspn(log.errors, "\n ");
  int length = (int)strcspn(log.errors + blank, "\n");
  return tn_host->error(TN_COMPILE_FAILED, "%s does not take the image: %s%s"
                        "%.*s", device->info.name,
                        tn_cuda_code_text(code, text), length ? ": " : "",
                        length < 200 ? length : 200, log.errors + blank);
}
