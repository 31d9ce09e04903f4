#include "config.h"

#include "core/launch/hash.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

uint64_t tn_hash(uint64_t start, const void *bytes, size_t size)
{
  const unsigned char *at = bytes;
  uint64_t hash = start, word;
  for (; size >= 8; size -= 8, at += 8) {
    memcpy(&word, at, 8);
    hash = mix(hash, word);
  }
  if (size == 0) return hash;
  word = size;
  for (size_t i = 0; i < size; i++) word = word << 8 | at[i];
  return mix(hash, word);
}
