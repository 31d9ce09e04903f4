/* Names of backends, alone and in file names. */
#ifndef TN_CORE_DEVICE_BACKEND_NAME_H
#define TN_CORE_DEVICE_BACKEND_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* What a name may be, for messages. */
#define TN_BACKEND_NAME_RULE "lower-case letters and underscores, at most 31"

/* Whether a plugin may be called so. "auto", "none" and "invalid" mean
 * something else in device strings. */
bool tn_backend_name_is_legal(const char *name, size_t length);

/* The NAME in a file name tenon-NAME.so (after the last '/'), legal or not;
 * NULL and *length = 0 if the file is called otherwise. */
const char *tn_backend_name_in(const char *path, size_t *length);

#endif
