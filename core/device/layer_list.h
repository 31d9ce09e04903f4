/* What TENON_LAYERS says: NAME:OPTION=VALUE,OPTION=VALUE,NAME2,... outermost
 * layer first. A piece whose first '=' comes before any ':' is one more
 * option of the layer before it. */
#ifndef TN_CORE_DEVICE_LAYER_LIST_H
#define TN_CORE_DEVICE_LAYER_LIST_H

#include "core/device/search.h"
#include "tenon/backend.h"

typedef struct tn_layer {
  char name[TN_BACKEND_NAME_SIZE];
  char options[PATH_MAX + 256]; /* after the name, "" if none */
  tn_plugin_file file;
} tn_layer;

/* The layers in order, each with its file; to be freed, NULL on failure. A
 * name that is not legal or not found is TN_INVALID_ARGUMENT, naming the
 * installed ones and the places searched. */
tn_status tn_layers_read(const char *text, tn_layer **out, int *count);

#endif
