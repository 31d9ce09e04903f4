/* Pinned host memory, cached. */
#ifndef TN_CORE_MEMORY_PINNED_H
#define TN_CORE_MEMORY_PINNED_H

#include "core/exec/stream.h"
#include "core/memory/conf.h"
#include "tenon/memory.h"

/* Puts options in force: sizes up to pinned_max_round are rounded up to a
 * power of two, larger ones to a multiple of 2 MiB. */
void tn_pinned_configure(const tn_conf *conf);

/* Whether all bytes lie in one piece of memory from tn_malloc_pinned. */
bool tn_pinned_has(const void *address, uint64_t bytes);

/* What was just queued on `stream` uses this pinned memory: it is not handed
 * out again before that is past. Memory that is not pinned: does nothing. */
tn_status tn_pinned_use(const void *address, tn_stream *stream);

/* A graph's copy uses the piece that `address` lies in until tn_pinned_let_go:
 * freed in between, it is not handed out again. False: there is none, or it is
 * the program's own. */
bool tn_pinned_hold(tn_address address);
void tn_pinned_let_go(tn_address address);

/* Memory of at least `bytes` bytes for staging: as tn_malloc_pinned for the
 * given device's backend. */
void *tn_pinned_alloc(tn_device_state *state, uint64_t bytes);

/* False if it is not the address of live pinned memory. */
bool tn_pinned_free(void *address);

/* Gives what is cached and not in use back; false if there was nothing. */
bool tn_pinned_trim(void);

/* For the end: gives all back. */
void tn_pinned_destroy(void);

/* Around fork. */
void tn_pinned_lock(void);
void tn_pinned_unlock(void);

#endif
