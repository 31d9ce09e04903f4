#include "config.h"

#include "core/exec/tag.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Chunks double and never move, so that readers need no lock: chunk c holds
 * the texts FIRST << c. Texts of the fixed tags are apart. */
enum { FIRST = 64, CHUNKS = 20, BUCKETS = 1024 };

typedef struct entry {
  const char *text;
  tn_tag next; /* of the same bucket, 0: none */
} entry;

static const char *const fixed[] = {
  "queued work",
#define TEXT(name, text) text,
  TN_TAG_MAP(TEXT)
#undef TEXT
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(entry *) chunks[CHUNKS];
static tn_tag buckets[BUCKETS];
static atomic_size_t count; /* beside the fixed ones */

static size_t chunk_of(size_t index, size_t *offset)
{
  size_t chunk = 0, size = FIRST;
  while (index >= size) {
    index -= size;
    size *= 2;
    chunk++;
  }
  *offset = index;
  return chunk;
}

static entry *entry_of(tn_tag tag)
{
  size_t offset;
  size_t chunk = chunk_of((size_t)(tag - TN_TAG_FIXED_END_), &offset);
  return atomic_load_explicit(&chunks[chunk], memory_order_acquire) + offset;
}

static size_t bucket_of(const char *text)
{
  uint64_t hash = 14695981039346656037u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return (hash ^ hash >> 32) % BUCKETS;
}

static tn_tag find(const char *text, size_t bucket)
{
  for (tn_tag tag = TN_TAG_NONE_ + 1; tag < TN_TAG_FIXED_END_; tag++)
    if (strcmp(fixed[tag], text) == 0) return tag;
  for (tn_tag tag = buckets[bucket]; tag; tag = entry_of(tag)->next)
    if (strcmp(entry_of(tag)->text, text) == 0) return tag;
  return 0;
}

/* A new, empty entry's tag; 0 without memory. */
static tn_tag append(void)
{
  size_t index = atomic_load_explicit(&count, memory_order_relaxed), offset;
  size_t chunk = chunk_of(index, &offset);
  if (chunk >= CHUNKS) return 0;
  if (offset == 0) {
    entry *entries = calloc((size_t)FIRST << chunk, sizeof *entries);
    if (!entries) return 0;
    atomic_store_explicit(&chunks[chunk], entries, memory_order_release);
  }
  return TN_TAG_FIXED_END_ + index;
}

static tn_tag add(const char *text, size_t bucket)
{
  char *copy = strdup(text);
  if (!copy) return 0;
  tn_tag tag = append();
  if (!tag) {
    free(copy);
    return 0;
  }
  *entry_of(tag) = (entry){ copy, buckets[bucket] };
  buckets[bucket] = tag;
  atomic_store_explicit(&count, (size_t)(tag - TN_TAG_FIXED_END_) + 1,
                        memory_order_release);
  return tag;
}

tn_tag tn_tag_of(const char *text)
{
  size_t bucket = bucket_of(text);
  pthread_mutex_lock(&lock);
  tn_tag tag = find(text, bucket);
  if (!tag) tag = add(text, bucket);
  pthread_mutex_unlock(&lock);
  return tag;
}

const char *tn_tag_text(tn_tag tag)
{
  if (tag < TN_TAG_FIXED_END_) return fixed[tag];
  size_t known = atomic_load_explicit(&count, memory_order_acquire);
  if (tag - TN_TAG_FIXED_END_ >= known) return fixed[0];
  return entry_of(tag)->text;
}
