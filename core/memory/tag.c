/* Names for memory, kept for good so that blocks can point to them. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory/holder.h"
#include "tenon/memory.h"

enum { TAGS_MAX = 4096, TAG_SIZE_MAX = 64, BUCKETS = 1024 };

typedef struct tag {
  struct tag *next;
  char text[];
} tag;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tag *buckets[BUCKETS];
static int count;

TN_HOT_THREAD_LOCAL const char *tn_memory_tag_mine;

void tn_memory_tag_lock(void) { pthread_mutex_lock(&lock); }
void tn_memory_tag_unlock(void) { pthread_mutex_unlock(&lock); }

static unsigned bucket_of(const char *text)
{
  unsigned hash = 5381;
  for (; *text; text++) hash = hash * 33 + (unsigned char)*text;
  return hash % BUCKETS;
}

/* Locked. */
static const char *add(tag **bucket, const char *text)
{
  if (count == TAGS_MAX) {
    tn_error(TN_UNSUPPORTED, "memory tag \"%s\": there are %d others already, "
             "which is the most", text, TAGS_MAX);
    return NULL;
  }
  size_t size = strlen(text) + 1;
  tag *made = malloc(sizeof *made + size);
  if (!made) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for the memory tag \"%s\"", text);
    return NULL;
  }
  memcpy(made->text, text, size);
  made->next = *bucket;
  *bucket = made;
  count++;
  return made->text;
}

static const char *find_or_add(const char *text)
{
  tag **bucket = &buckets[bucket_of(text)];
  for (tag *t = *bucket; t; t = t->next)
    if (strcmp(t->text, text) == 0) return t->text;
  return add(bucket, text);
}

static const char *intern(const char *text)
{
  if (strlen(text) >= TAG_SIZE_MAX) {
    tn_error(TN_INVALID_ARGUMENT, "memory tag \"%.63s...\": at most 63 bytes",
             text);
    return NULL;
  }
  pthread_mutex_lock(&lock);
  const char *known = find_or_add(text);
  pthread_mutex_unlock(&lock);
  return known;
}

tn_memory_tag_guard tn_memory_tag_push(const char *text)
{
  tn_memory_tag_guard guard = { .saved = tn_memory_tag_mine };
  const char *known = text && *text ? intern(text) : NULL;
  if (text && *text && !known) return guard;
  tn_memory_tag_mine = known;
  guard.active = 1;
  return guard;
}

void tn_memory_tag_pop(tn_memory_tag_guard *guard)
{
  if (!guard || !guard->active) return;
  guard->active = 0;
  tn_memory_tag_mine = guard->saved;
}
