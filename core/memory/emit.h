/* Writing maps, lists and scalars, as JSON or as a pickle of protocol 2, from
 * the same calls. */
#ifndef TN_CORE_MEMORY_EMIT_H
#define TN_CORE_MEMORY_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tn_emitter {
  FILE *file;
  bool is_pickle;
  bool has_items; /* JSON: the innermost map or list has one already */
} tn_emitter;

/* Around one value. */
void tn_emit_begin(tn_emitter *emitter, FILE *file, bool is_pickle);
void tn_emit_end(tn_emitter *emitter);

/* `key` is NULL in lists and for the outermost value. */
void tn_emit_map(tn_emitter *emitter, const char *key);
void tn_emit_map_end(tn_emitter *emitter);
void tn_emit_list(tn_emitter *emitter, const char *key);
void tn_emit_list_end(tn_emitter *emitter);
void tn_emit_text(tn_emitter *emitter, const char *key, const char *text);
void tn_emit_number(tn_emitter *emitter, const char *key, uint64_t number);
void tn_emit_signed(tn_emitter *emitter, const char *key, int64_t number);
void tn_emit_real(tn_emitter *emitter, const char *key, double number);
void tn_emit_bool(tn_emitter *emitter, const char *key, bool value);

/* A tuple of two; a list in JSON. */
void tn_emit_pair(tn_emitter *emitter, const char *key,
                  const uint64_t pair[2]);

#endif
