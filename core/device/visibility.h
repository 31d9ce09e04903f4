/* Which devices of a backend the program sees, in which order:
 * TENON_NAME_VISIBLE_DEVICES, by the rules of CUDA_VISIBLE_DEVICES. */
#ifndef TN_CORE_DEVICE_VISIBILITY_H
#define TN_CORE_DEVICE_VISIBILITY_H

#include "core/device/device_state.h"

typedef struct tn_visibility {
  int count;    /* of visible devices */
  int physical; /* how many the plugin has */
  int16_t ordinals[TN_BACKEND_DEVICES_MAX]; /* the plugin's, by ours */
} tn_visibility;

/* Asks the plugin and the environment, each time anew. Fails as the plugin's
 * count does, with the error set. */
tn_status tn_visibility_read(const tn_backend *backend, tn_visibility *out);

/* The variable's name. */
#define TN_VISIBILITY_NAME_SIZE (TN_BACKEND_NAME_SIZE + 24)
void tn_visibility_variable(const char *backend,
                            char text[TN_VISIBILITY_NAME_SIZE]);

#endif
