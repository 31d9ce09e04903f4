/* A host for the cpu backend alone, without libtenon: the plugin is opened by
 * path and its tables are called directly. */
#ifndef TN_TESTS_CPU_HOST_H
#define TN_TESTS_CPU_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/backend.h"

/* The plugin as loaded last. */
extern const tn_backend_api *plugin;

/* Loads tenon-cpu.so from a folder of TENON_BACKEND_PATH, with the
 * environment as it is now; ends the test where that fails. */
void plugin_load(void);

/* Shuts the plugin down and unloads it. */
void plugin_unload(void);

/* The calling thread's last error text, "" after plugin_forget. */
const char *plugin_error(void);
void plugin_forget(void);

/* All lines logged so far. */
const char *plugin_log(void);

/* The host's cache of compiled kernels, in a folder of the test's own that
 * the unloading removes. */
typedef struct plugin_cache_counts {
  int found, missed, stored;
} plugin_cache_counts;

plugin_cache_counts plugin_cache(void);

/* Overwrites the start of every file of the cache. */
void plugin_cache_damage(void);

/* Device 0, opened, or NULL and a failed test. */
tn_backend_device *plugin_device(void);

/* A stream of a device, or NULL and a failed test. */
tn_backend_stream *plugin_stream(tn_backend_device *device, uint32_t flags,
                                 int32_t priority);

/* Memory of kind DEVICE; NULL and a failed test without. */
void *plugin_alloc(tn_backend_device *device, uint64_t bytes);
void plugin_free(tn_backend_device *device, void *memory, uint64_t bytes);

/* A module and a kernel of it, or NULL. Source: portable, NULL for built-in
 * ones. */
tn_backend_module *plugin_module(tn_backend_device *device, const char *name,
                                 const char *source);
tn_backend_kernel *plugin_kernel(tn_backend_module *module, const char *name);

/* Launches over items. */
tn_status plugin_launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                        int64_t items, const uint64_t *slots);

/* Waits until all that is queued on the stream has run. */
void plugin_synchronize(tn_backend_device *device, tn_backend_stream *stream);

#define PLUGIN_POINTER(p) ((uint64_t)(uintptr_t)(p))

#endif
