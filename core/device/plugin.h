/* Loading one plugin file and checking it. */
#ifndef TN_CORE_DEVICE_PLUGIN_H
#define TN_CORE_DEVICE_PLUGIN_H

#include "core/device/device_state.h"

/* Opens the plugin at `path` (which has a '/'), calls its entry, and checks
 * and copies what it gives into *api and *backend (all but name and id). On
 * failure the thread's error is the reason alone, without the path, as
 * `exports no tn_backend_entry`. */
tn_status tn_plugin_load(const char *path, const char *name,
                         tn_backend_api *api, tn_backend *backend);

#endif
