/* The options of a layer: NAME=VALUE, separated by commas. */
#ifndef TN_LAYERS_OPTION_H
#define TN_LAYERS_OPTION_H

#include <stdbool.h>

#include "tenon/backend.h"

typedef struct layer_option {
  const char *name;
  char *value; /* filled in: "" unless given */
  size_t size; /* of value */
  const char *meaning; /* of the value, such as "PATH" */
} layer_option;

/* Reads host->layer_options; one that is not among the `count` accepted ones
 * is TN_INVALID_ARGUMENT, naming them. */
tn_status layer_options_read(const tn_host_api *host,
                             const layer_option *options, int count);

/* A whole number from 0 up; false if `text` is none. */
bool layer_number(const char *text, uint64_t *out);

#endif
