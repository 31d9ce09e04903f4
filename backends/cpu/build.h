/* From the source of a module to a library in this process. */
#ifndef TN_BACKENDS_CPU_BUILD_H
#define TN_BACKENDS_CPU_BUILD_H

#include "tenon/backend.h"

/* Compiles a module's source for the level in use, unless the host's cache
 * has it from before, and opens the library made (for dlclose). */
tn_status tn_cpu_build_load(const tn_module_desc *desc, void **library);

#endif
