/* The driver's codes as statuses and text. */
#ifndef TN_CUDA_ERROR_H
#define TN_CUDA_ERROR_H

#include <stdbool.h>

#include "backends/cuda/loader.h"
#include "tenon/backend.h"

/* The services of the host, set once by tn_backend_entry. */
extern const tn_host_api *tn_host;

/* Long enough for "CUDA_ERROR_... (700: ...)". */
#define TN_CUDA_CODE_TEXT_SIZE 192

/* "CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)" into `text`, which it
 * returns. */
const char *tn_cuda_code_text(CUresult code,
                              char text[TN_CUDA_CODE_TEXT_SIZE]);

tn_status tn_cuda_code_status(CUresult code);

/* Whether a code says that queued work broke the context for good. Any later
 * call may answer it. */
bool tn_cuda_is_sticky(CUresult code);

/* Whether only a kernel can have caused a sticky code. */
bool tn_cuda_is_of_kernel(CUresult code);

/* Sets the error "CALL answered CODE on DEVICE" and returns its status; TN_OK
 * for CUDA_SUCCESS. A sticky code is noted as the device's failure, and the
 * text says which queued work it came from. */
tn_status tn_cuda_check(CUresult code, const char *call,
                        tn_backend_device *device);

#endif
