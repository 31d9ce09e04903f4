/* What plugins are given, and what they gave back as error texts. */
#ifndef TN_CORE_DEVICE_HOST_H
#define TN_CORE_DEVICE_HOST_H

#include "tenon/backend.h"

/* The table handed to tn_backend_entry. */
extern const tn_host_api tn_host;

/* The kernel cache behind the table's cache_find and cache_store: core/launch
 * sets it (from a constructor, so that it is there before any plugin is).
 * The functions give their text through tn_error. */
typedef struct tn_host_cache {
  tn_status (*find)(const char *kind, const void *key, size_t key_size,
                    char *path, size_t path_size, uint64_t *payload_size);
  tn_status (*store)(const char *kind, const void *key, size_t key_size,
                     const void *payload, uint64_t payload_size, char *path,
                     size_t path_size);
} tn_host_cache;

void tn_host_cache_set(const tn_host_cache *cache);

/* The text this thread's last plugin call gave with `status` through
 * host->error, or the status's meaning if it gave none; it is forgotten with
 * the next text. A text that nobody asks for does no harm. */
const char *tn_host_error_text(tn_status status);

/* The last status given through host->error in this thread, TN_OK if none
 * was since tn_host_error_clear. */
tn_status tn_host_error_status(void);
void tn_host_error_clear(void);

/* A copy of tn_host with the options of a layer, for good. */
tn_status tn_host_for_layer(const char *options, const tn_host_api **out);

#endif
