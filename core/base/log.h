/* The log: lines on standard error. TENON_LOG=error, warning (the default),
 * info or debug says how much. Any thread. */
#ifndef TN_CORE_BASE_LOG_H
#define TN_CORE_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>

#include "tenon/backend.h"

/* Writes "tenon: LEVEL: TEXT"; every line of a longer text is written so. */
void tn_log(tn_log_level level, const char *format, ...) TN_PRINTF(2, 3);
void tn_log_v(tn_log_level level, const char *format, va_list arguments)
    TN_PRINTF(2, 0);

/* Whether such a line would be written, for callers whose text costs. */
bool tn_log_is_on(tn_log_level level);

#endif
