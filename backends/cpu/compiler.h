/* The system's C compiler. */
#ifndef TN_BACKENDS_CPU_COMPILER_H
#define TN_BACKENDS_CPU_COMPILER_H

#include <limits.h>
#include <stdbool.h>

#include "tenon/backend.h"

typedef struct tn_cpu_compiler {
  char path[PATH_MAX];
  char identity[128]; /* changes when the program at the path does */
} tn_cpu_compiler;

/* The one named by TENON_CC, or else the first of cc, gcc and clang in PATH.
 * TN_COMPILE_FAILED where there is none, naming what was looked for. */
tn_status tn_cpu_compiler_find(tn_cpu_compiler *compiler);

/* Runs it (arguments end with NULL, the first is the program) without a
 * shell, its messages written to a file. *outcome is its exit status, 256 plus
 * a signal's number, or -1 where the program took the status away (it ignores
 * SIGCHLD). */
tn_status tn_cpu_compiler_run(const tn_cpu_compiler *compiler,
                              char *const *arguments, const char *messages,
                              int *outcome);

#endif
