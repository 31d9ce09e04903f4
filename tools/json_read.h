/* Reading JSON into memory. */
#ifndef TN_TOOLS_JSON_READ_H
#define TN_TOOLS_JSON_READ_H

#include <stddef.h>
#include <stdint.h>

typedef enum tn_value_kind {
  TN_VALUE_NULL, /* also true and false: they are 1 and 0 */
  TN_VALUE_NUMBER,
  TN_VALUE_TEXT,
  TN_VALUE_LIST,
  TN_VALUE_MAP
} tn_value_kind;

typedef struct tn_value {
  tn_value_kind kind;
  uint64_t number; /* whole and not negative; 0 for others */
  char *text;      /* UTF-8 */
  char *key;       /* in a map */
  size_t count;
  struct tn_value *items; /* of a list or a map */
} tn_value;

/* The value of a text of `size` bytes; NULL after writing the reason, with
 * its line, to `problem`. */
tn_value *tn_value_read(const char *text, size_t size, char *problem,
                        size_t problem_size);
void tn_value_free(tn_value *value);

/* A map's member: a value of kind NULL if there is none. */
const tn_value *tn_value_get(const tn_value *map, const char *key);

/* Members with their defaults: 0 and "". */
uint64_t tn_value_number(const tn_value *map, const char *key);
const char *tn_value_text(const tn_value *map, const char *key);

#endif
