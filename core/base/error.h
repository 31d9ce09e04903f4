/* Setting this thread's last error. */
#ifndef TN_CORE_BASE_ERROR_H
#define TN_CORE_BASE_ERROR_H

#include <stdarg.h>

#include "tenon/status.h"

/* Sets code and text (cut, never allocating) and returns the code, so that
 * callers write `return tn_error(TN_..., "...", ...)`. Newlines in the result
 * become spaces. */
tn_status tn_error(tn_status status, const char *format, ...)
    TN_PRINTF(2, 3);
tn_status tn_error_v(tn_status status, const char *format, va_list arguments);

#endif
