/* One compilation of a module, in a folder of its own. */
#ifndef TN_BACKENDS_CPU_COMPILATION_H
#define TN_BACKENDS_CPU_COMPILATION_H

#include <stddef.h>
#include <stdio.h>

#include "backends/cpu/compiler.h"

typedef struct tn_cpu_compilation {
  const tn_module_desc *desc;
  tn_cpu_compiler compiler;
  /* Paths that compile sets. */
  char folder[PATH_MAX - 64];
  char source[PATH_MAX], library[PATH_MAX], messages[PATH_MAX];
} tn_cpu_compilation;

/* Writes all that the result depends on beside the language's headers. */
void tn_cpu_compilation_describe(const tn_cpu_compilation *unit, FILE *out);

/* Makes the library. TN_COMPILE_FAILED with the first error as text; all that
 * the compiler said goes to the log. Clean is to follow, also then. */
tn_status tn_cpu_compilation_run(tn_cpu_compilation *unit);

/* The library made, to be freed; NULL after an error. */
void *tn_cpu_compilation_read(const tn_cpu_compilation *unit, size_t *size);

/* Removes the folder, if there is one. */
void tn_cpu_compilation_clean(const tn_cpu_compilation *unit);

#endif
