/* The library's own kernel families. */
#ifndef TN_CORE_LAUNCH_BUILTIN_H
#define TN_CORE_LAUNCH_BUILTIN_H

#include "core/device/device_state.h"
#include "tenon/kernel.h"

/* A family's name is the name of a file without its ending. */
tn_status tn_builtin_check(const char *family);

/* The backend's own image, or else the portable source, which is looked for
 * in TENON_KERNEL_PATH, beside the library and where it was installed. The
 * module stays loaded. The caller is inside tn_enter. */
tn_module *tn_builtin_load(tn_device_state *state, const char *family);

#endif
