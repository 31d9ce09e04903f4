/* Setting this thread's last error. */
#ifndef TN_CORE_BASE_ERROR_H
#define TN_CORE_BASE_ERROR_H

#include <stdarg.h>

#include "tenon/status.h"

#define TN_ERROR_TEXT_SIZE 1024

/* A thread's last error, to be put back later. */
typedef struct tn_error_state {
  tn_status status;
  char text[TN_ERROR_TEXT_SIZE];
} tn_error_state;

/* Sets code and text (cut, never allocating) and returns the code, so that
 * callers write `return tn_error(TN_..., "...", ...)`. Newlines in the result
 * become spaces. */
tn_status tn_error(tn_status status, const char *format, ...)
    TN_PRINTF(2, 3);
tn_status tn_error_v(tn_status status, const char *format, va_list arguments)
    TN_PRINTF(2, 0);

/* For calls that try something and must leave the last error alone. */
void tn_error_save(tn_error_state *state);
void tn_error_restore(const tn_error_state *state);

#endif
