/* A fast hash for names and checksums; no defence against those who choose
 * the bytes. */
#ifndef TN_CORE_LAUNCH_HASH_H
#define TN_CORE_LAUNCH_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Different starts give independent hashes. Parts are hashed one after the
 * other, each part's hash being the next one's start: all but the last have a
 * multiple of 8 bytes, if the whole is to give the same as in one part. */
uint64_t tn_hash(uint64_t start, const void *bytes, size_t size);

#endif
