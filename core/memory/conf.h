/* The allocator's options, by PyTorch's names (TENON_ALLOC_CONF). */
#ifndef TN_CORE_MEMORY_CONF_H
#define TN_CORE_MEMORY_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/status.h"

/* Divisions of the powers of two from 1 MiB up, by their order. */
enum { TN_CONF_INTERVALS = 16, TN_CONF_TEXT_SIZE = 512 };

typedef struct tn_conf {
  uint64_t max_split_size;          /* UINT64_MAX: none */
  uint64_t max_non_split_rounding;
  double garbage_collection_threshold; /* 0: none */
  double memory_fraction;
  bool has_memory_fraction; /* it was named */
  bool is_rounding;         /* a division is more than 1 */
  uint32_t divisions[TN_CONF_INTERVALS];
  uint64_t pinned_max_round, pinned_max_cached;
  bool pinned_is_registered;
  uint32_t pinned_register_threads;
  char text[TN_CONF_TEXT_SIZE]; /* as it was given */
} tn_conf;

/* Reads options on top of the defaults. `source` names the text in errors.
 * On failure *out is not changed. */
tn_status tn_conf_parse(const char *source, const char *text, tn_conf *out);

/* The options in force: those set last, or else TENON_ALLOC_CONF's, whose
 * error comes each time. */
tn_status tn_conf_current(tn_conf *out);

/* Around fork. */
void tn_conf_lock(void);
void tn_conf_unlock(void);

/* A request's size in whole units of 512 bytes, with divisions. */
uint64_t tn_conf_round(const tn_conf *conf, uint64_t bytes);

#endif
