/* Compiled kernels on disk, shared by all processes of a user: the services
 * cache_find and cache_store of the plugin interface.
 *
 * One file for each entry, named by a hash of its key and by its kind:
 *
 *     payload | key | cache_footer
 *
 * The payload comes first so that a loader can take the file as it is. Files
 * appear whole, by rename; they are never changed. What is not whole, not
 * ours, or not a plain file counts as absent. */
#ifndef TN_CORE_LAUNCH_CACHE_H
#define TN_CORE_LAUNCH_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "tenon/status.h"

tn_status tn_cache_find(const char *kind, const void *key, size_t key_size,
                        char *path, size_t path_size, uint64_t *payload_size);

tn_status tn_cache_store(const char *kind, const void *key, size_t key_size,
                         const void *payload, uint64_t payload_size,
                         char *path, size_t path_size);

#endif
