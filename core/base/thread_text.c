#include "config.h"

#include "core/base/thread_text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/thread.h"

enum { STORE_SIZE = 64 };

static tn_thread_text store[STORE_SIZE];
static atomic_bool is_taken[STORE_SIZE];

static TN_HOT_THREAD_LOCAL tn_thread_text *mine;

/* Gives the texts back when their thread ends. */
static pthread_key_t key;

static void give_back(void *texts)
{
  tn_thread_text *text = texts;
  mine = NULL;
  if (text < store || text >= store + STORE_SIZE) {
    free(text);
    return;
  }
  text->last[0] = text->plugin[0] = 0;
  atomic_store_explicit(&is_taken[text - store], false,
                        memory_order_release);
}

static void make_key(void) { pthread_key_create(&key, give_back); }

static tn_thread_text *take_stored(void)
{
  for (int i = 0; i < STORE_SIZE; i++)
    if (!atomic_exchange_explicit(&is_taken[i], true, memory_order_acq_rel))
      return &store[i];
  return NULL;
}

tn_thread_text *tn_thread_text_get(void) { return mine; }

tn_thread_text *tn_thread_text_take(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (mine) return mine;
  pthread_once(&once, make_key);
  mine = take_stored();
  if (!mine) mine = calloc(1, sizeof *mine);
  if (mine) pthread_setspecific(key, mine);
  return mine;
}
