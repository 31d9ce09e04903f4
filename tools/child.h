/* Work in a child process, so that what crashes or hangs is reported and not
 * suffered. */
#ifndef TN_TOOLS_CHILD_H
#define TN_TOOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a child wrote, and how it ended. */
typedef struct tn_child {
  char *data; /* `size` bytes and a 0; free with tn_child_release */
  size_t size;
  char problem[96]; /* "crashed: Segmentation fault", "gave no answer within
                     * 20 s, and was stopped"; "" if it ended by itself */
} tn_child;

/* Calls work(out, argument) in a child, with its stdout closed to it, and
 * reads all it writes to `out`. After `seconds` the child and what it started
 * are killed. The caller has no threads and has flushed its files. */
void tn_child_run(void (*work)(FILE *out, void *argument), void *argument,
                  double seconds, tn_child *child);
void tn_child_release(tn_child *child);

#endif
