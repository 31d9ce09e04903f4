/* The definitions given with a kernel source. */
#ifndef TN_CORE_LAUNCH_DEFINES_H
#define TN_CORE_LAUNCH_DEFINES_H

#include <stddef.h>

#include "tenon/status.h"

typedef struct tn_defines {
  const char **items; /* "NAME=VALUE" */
  size_t count;
  char *memory;
} tn_defines;

/* Reads "N=4;FAST": a name alone has the value 1. NULL and "" are none.
 * TN_INVALID_ARGUMENT for what is not the name of a macro. */
tn_status tn_defines_parse(const char *text, tn_defines *defines);

void tn_defines_free(tn_defines *defines);

#endif
