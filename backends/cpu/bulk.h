/* Copying and filling memory: on several threads and past the caches where
 * that is faster. Complete on return. */
#ifndef TN_BACKENDS_CPU_BULK_H
#define TN_BACKENDS_CPU_BULK_H

#include <stdbool.h>
#include <stdint.h>

/* Called once, at load, with the size of the last cache (0: unknown). */
void tn_cpu_bulk_setup(uint64_t cache_bytes);

/* `depth` planes of `rows` rows of `row_bytes` bytes; pitches as in
 * tn_copy_desc. Everything was checked to fit. */
typedef struct tn_cpu_copy {
  char *dst;
  const char *src;
  uint64_t row_bytes, rows, depth;
  uint64_t dst_row_pitch, dst_plane_pitch;
  uint64_t src_row_pitch, src_plane_pitch;
} tn_cpu_copy;

void tn_cpu_copy_run(const tn_cpu_copy *copy, bool is_urgent);

/* Repeats the 8 bytes of `pattern` over `bytes` bytes, cut off at the end. */
void tn_cpu_fill_run(void *dst, uint64_t pattern, uint64_t bytes,
                     bool is_urgent);

#endif
