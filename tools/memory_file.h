/* A snapshot of a device's memory, as tn_memory_snapshot writes it. */
#ifndef TN_TOOLS_MEMORY_FILE_H
#define TN_TOOLS_MEMORY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/json_read.h"

/* Of one use of memory, in a segment's life: from event to event. Blocks of
 * the snapshot last until its end, and what was there before the first event
 * begins with it. */
typedef struct tn_memory_span {
  uint64_t address, size; /* as asked for */
  size_t begin, asked;    /* asked: when it was given back */
  size_t end;             /* when it was free */
  int holder;
} tn_memory_span;

typedef struct tn_memory_band {
  uint64_t address, size, stream;
  size_t begin, end;
  bool is_live; /* at the end */
} tn_memory_band;

typedef struct tn_memory_holder {
  const char *name;
  uint64_t bytes, blocks; /* at the end */
} tn_memory_holder;

typedef struct tn_memory_point {
  uint64_t reserved, used; /* before the event; used: as asked for */
} tn_memory_point;

typedef struct tn_memory_file {
  tn_value *root;
  const tn_value *segments, *events;
  size_t span_count, band_count, holder_count, event_count;
  tn_memory_span *spans;
  tn_memory_band *bands;
  tn_memory_holder *holders;
  tn_memory_point *points; /* event_count + 1 */
  size_t *places; /* by address: the last span there + 1 */
  size_t place_count; /* a power of two */
  uint64_t reserved, allocated, active, requested;
} tn_memory_file;

/* False after writing the reason to `problem`. */
bool tn_memory_file_read(const char *path, tn_memory_file *out, char *problem,
                         size_t problem_size);
void tn_memory_file_free(tn_memory_file *file);

/* The holder of an active block of the file; its index. */
int tn_memory_file_holder(const tn_memory_file *file, const tn_value *block);

#endif
