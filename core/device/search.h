/* Where plugins are looked for: the entries of TENON_BACKEND_PATH (folders or
 * plugin files, separated by colons), the folder tenon/backends beside the
 * library, the configured folder. The first file of a name wins. */
#ifndef TN_CORE_DEVICE_SEARCH_H
#define TN_CORE_DEVICE_SEARCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A layer's file is called tenon-layer-NAME.so. */
#define TN_LAYER_PREFIX "layer-"

/* What a file is, whatever it is called. */
typedef struct tn_identity {
  dev_t device;
  ino_t inode;
} tn_identity;

bool tn_identity_equal(tn_identity a, tn_identity b);

typedef struct tn_plugin_file {
  char path[PATH_MAX]; /* absolute */
  tn_identity identity;
} tn_plugin_file;

/* The plugin of that name, if there is one; one stat for each place. */
bool tn_search_find(const char *name, size_t length, tn_plugin_file *file);

/* One place, or a file in it. */
typedef struct tn_search_row {
  const char *place;
  const tn_plugin_file *file; /* NULL: about the place */
  const char *problem;        /* of a place: "" or why it is not looked into;
                               * of a file: "" */
} tn_search_row;

/* Visits every place and the files called tenon-*.so there, in order. */
void tn_search_visit(void (*visit)(const tn_search_row *row, void *argument),
                     void *argument);

/* Writes the places, separated by ", ". */
void tn_search_describe(char *text, size_t size);

/* The same for layers, files called tenon-layer-NAME.so; instead of
 * tenon/backends their own folder is tenon/layers. */
bool tn_search_find_layer(const char *name, size_t length,
                          tn_plugin_file *file);
void tn_search_visit_layers(
    void (*visit)(const tn_search_row *row, void *argument), void *argument);
void tn_search_describe_layers(char *text, size_t size);

#endif
