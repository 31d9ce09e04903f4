/* The folder of the kernel cache, if it can be trusted. */
#ifndef TN_CORE_LAUNCH_CACHE_FOLDER_H
#define TN_CORE_LAUNCH_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "tenon/status.h"

typedef struct tn_cache_folder {
  const char *path; /* absolute, for the whole process */
  int fd;           /* of the folder, for openat */
} tn_cache_folder;

/* TENON_CACHE_DIR, or XDG_CACHE_HOME/tenon, or HOME/.cache/tenon: made with
 * mode 0700 if it is missing. Looked at once; the reason for a refusal is
 * kept, and said once in the log. */
tn_status tn_cache_folder_get(tn_cache_folder *folder);

/* A folder of this process alone, removed with the library; made at the first
 * call. For when the other one cannot be used. */
tn_status tn_cache_folder_private(tn_cache_folder *folder);

/* The same if it was made already; else false. */
bool tn_cache_folder_has_private(tn_cache_folder *folder);

#endif
