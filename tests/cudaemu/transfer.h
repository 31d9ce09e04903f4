/* Copies and fills, as streams and graphs do them. */
#ifndef TN_TESTS_CUDAEMU_TRANSFER_H
#define TN_TESTS_CUDAEMU_TRANSFER_H

#include "tests/cudaemu/address.h"
#include "tests/cudaemu/graph.h"

/* One side: rows, `pitch` bytes apart, and planes of them. */
typedef struct emu_side {
  bool is_host;
  uint64_t address;
  uint64_t pitch, plane;
  /* Of one that is bound to memory: */
  int place;                  /* the device; -1: pinned, -2: pageable */
  emu_allocation *allocation; /* NULL: pageable */
  unsigned char *bytes;       /* on the host */
} emu_side;

/* Bound to memory when it is queued; a node's when its graph is. */
typedef struct emu_transfer {
  const char *what;
  emu_side dst, src;
  uint64_t width, rows, depth;
  unsigned char *staged; /* the pageable source, as it was, close together */
  unsigned unit;         /* of a fill: bytes of its pattern; 0: a copy */
  uint32_t pattern;
} emu_transfer;

/* With the lock held; of all but what comes from binding. */
CUresult emu_transfer_queue(const emu_transfer *wanted, CUstream handle);
CUresult emu_transfer_work(const emu_transfer *wanted, emu_context *context,
                           emu_work **work);

#endif
