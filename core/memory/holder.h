/* Who holds memory: the tag its thread had, and the code that asked for it. */
#ifndef TN_CORE_MEMORY_HOLDER_H
#define TN_CORE_MEMORY_HOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/thread.h"

/* `tag` is one of the process's tags, which are never freed; NULL: none. */
typedef struct tn_holder {
  const char *tag;
  const void *caller;
} tn_holder;

/* This thread's tag. */
extern TN_HOT_THREAD_LOCAL const char *tn_memory_tag_mine;

enum { TN_HOLDER_TEXT_SIZE = 96 };

/* The file and place of code, as "train+0x1f3", and its name if it has one
 * that others see. Allocates nothing. */
void tn_caller_format(const void *caller, char *text, size_t size);

/* A holder in one text: the tag in quotation marks, or else the caller. */
void tn_holder_format(tn_holder holder, char *text, size_t size);

/* Around fork. */
void tn_memory_tag_lock(void);
void tn_memory_tag_unlock(void);

/* The largest holders among many blocks, in little memory: exact as long as
 * there are no more of them than fit. */
enum { TN_HOLDERS_MAX = 128 };

typedef struct tn_holding {
  tn_holder holder;
  uint64_t bytes, blocks;
} tn_holding;

typedef struct tn_holdings {
  int count;
  uint64_t other_bytes, other_blocks; /* of holders that did not fit */
  tn_holding items[TN_HOLDERS_MAX];
} tn_holdings;

void tn_holdings_add(tn_holdings *holdings, tn_holder holder, uint64_t bytes);

/* The most bytes first. */
void tn_holdings_sort(tn_holdings *holdings);

#endif
