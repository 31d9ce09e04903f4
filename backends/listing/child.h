/* Listing devices without touching their drivers in this process, for the
 * plugins whose drivers do not survive a fork: a short-lived child asks them.
 * Compiled into each plugin that needs it. */
#ifndef TN_LISTING_CHILD_H
#define TN_LISTING_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "tenon/backend.h"

typedef struct tn_listing {
  int count;
  tn_backend_device_info devices[];
} tn_listing;

/* NULL without memory. To be freed by the caller, as that below. */
tn_listing *tn_listing_make(int count);

/* Asks in a child. `make` runs there, and gives a listing or, in `reason`, why
 * there is none. *is_answered is false where no child can be had: a process
 * that cannot fork has nothing to be spoilt. The program may see a SIGCHLD.
 * One thread at a time. */
tn_listing *tn_listing_by_child(tn_listing *(*make)(char *reason,
                                                    size_t size),
                                char *reason, size_t size,
                                bool *is_answered);

#endif
