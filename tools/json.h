/* Writing JSON, indented, straight to a file. */
#ifndef TN_TOOLS_JSON_H
#define TN_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tn_json {
  FILE *file;
  int depth;
  bool has_items; /* the innermost object or array has one already */
} tn_json;

/* `key` is NULL in arrays and for the outermost value. */
void tn_json_open(tn_json *json, const char *key, char bracket); /* { or [ */
void tn_json_close(tn_json *json, char bracket);                 /* } or ] */

/* Bytes that are not UTF-8 become U+FFFD; NULL is null. */
void tn_json_text(tn_json *json, const char *key, const char *text);
void tn_json_integer(tn_json *json, const char *key, int64_t value);
void tn_json_unsigned(tn_json *json, const char *key, uint64_t value);
void tn_json_bool(tn_json *json, const char *key, bool value);
void tn_json_null(tn_json *json, const char *key);

#endif
