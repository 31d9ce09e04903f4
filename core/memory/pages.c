#include "config.h"

#include "core/memory/pages.h"

#include <pthread.h>
#include <stdbool.h>

enum { THREADS_MAX = 128 };

typedef struct share {
  volatile char *begin, *end;
  uint64_t page;
  pthread_t thread;
  bool is_elsewhere;
} share;

static void *touch(void *argument)
{
  const share *mine = argument;
  for (volatile char *p = mine->begin; p < mine->end; p += mine->page) *p = 0;
  return NULL;
}

void tn_pages_touch(void *memory, uint64_t bytes, uint64_t page,
                    unsigned threads)
{
  share shares[THREADS_MAX];
  char *begin = memory;
  uint64_t pages = (bytes + page - 1) / page;
  if (threads > THREADS_MAX) threads = THREADS_MAX;
  if (threads > pages) threads = (unsigned)pages;
  for (unsigned i = 0; i < threads; i++) {
    uint64_t from = pages * i / threads * page;
    uint64_t to = pages * (i + 1) / threads * page;
    shares[i] = (share){ begin + from, begin + (to < bytes ? to : bytes),
                         page, 0, false };
    shares[i].is_elsewhere =
        i + 1 < threads &&
        pthread_create(&shares[i].thread, NULL, touch, &shares[i]) == 0;
    if (!shares[i].is_elsewhere) touch(&shares[i]);
  }
  for (unsigned i = 0; i < threads; i++)
    if (shares[i].is_elsewhere) pthread_join(shares[i].thread, NULL);
}
