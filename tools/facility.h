/* What the library needs of the machine beside plugins: a default device, a
 * compiler for kernels, a folder to keep them in. */
#ifndef TN_TOOLS_FACILITY_H
#define TN_TOOLS_FACILITY_H

#include <stdbool.h>

typedef struct tn_facility {
  const char *name;  /* "compiler" */
  bool works;
  char text[1024];   /* what it is, or why it does not work */
  char remedy[256];  /* "" if it works */
} tn_facility;

#define TN_FACILITY_COUNT 3

/* Each is tried in a child process for at most `seconds`. */
void tn_facilities_try(double seconds, tn_facility *facilities);

#endif
