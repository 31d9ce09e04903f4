/* Room for each thread's error texts. */
#ifndef TN_CORE_BASE_THREAD_TEXT_H
#define TN_CORE_BASE_THREAD_TEXT_H

#include "core/base/error.h"
#include "tenon/backend.h"

/* Not thread-local variables themselves: a library opened by dlopen that has
 * any of TN_HOT_THREAD_LOCAL must fit with all its others into the little
 * room that the C library keeps for that. */
typedef struct tn_thread_text {
  char last[TN_ERROR_TEXT_SIZE];     /* of the last failed call */
  char plugin[TN_BACKEND_TEXT_SIZE]; /* of the last failed plugin call */
} tn_thread_text;

/* This thread's texts, "" at first. Taken at a thread's first failure from a
 * store that is there from the beginning, since failures must not need
 * memory; a thread beyond the 64th that has failed and lives takes it from
 * the heap. NULL if that is exhausted: then a status's meaning is its text. */
tn_thread_text *tn_thread_text_take(void);

/* The same, but NULL if this thread took none yet. */
tn_thread_text *tn_thread_text_get(void);

#endif
