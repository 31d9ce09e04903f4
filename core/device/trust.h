/* Whether a plugin file may be loaded at all: code that others can replace is
 * not ours to run. */
#ifndef TN_CORE_DEVICE_TRUST_H
#define TN_CORE_DEVICE_TRUST_H

#include <stdbool.h>

#include "core/base/error.h"

/* Why something is not used, and what to do about it; one line each, ""
 * where there is nothing to say. */
typedef struct tn_verdict {
  char reason[TN_ERROR_TEXT_SIZE];
  char remedy[TN_ERROR_TEXT_SIZE];
  bool is_shadowed; /* good or bad, another file of that name is used */
} tn_verdict;

void tn_verdict_clear(tn_verdict *verdict);
void tn_verdict_reason(tn_verdict *verdict, const char *format, ...)
    TN_PRINTF(2, 3);
void tn_verdict_remedy(tn_verdict *verdict, const char *format, ...)
    TN_PRINTF(2, 3);

/* A file is trusted if it is a regular one, and it and its folder (also those
 * of the target of a link) belong to root or the effective user and are not
 * writable by everybody. Returns whether; the verdict says why not. */
bool tn_trust_file(const char *path, tn_verdict *verdict);

#endif
