/* The text that the compiler is given. */
#ifndef TN_OPENCL_SOURCE_H
#define TN_OPENCL_SOURCE_H

#include <stddef.h>

#include "tenon/backend.h"

/* The text of a module of kind PORTABLE, VENDOR or BUILTIN: definitions, the
 * kernel language where it is missing, then the module's own. The caller's,
 * by free. */
tn_status tn_opencl_source(const tn_module_desc *desc, char **source,
                           size_t *size);

#endif
