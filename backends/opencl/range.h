/* Which allocation an address lies in. */
#ifndef TN_OPENCL_RANGE_H
#define TN_OPENCL_RANGE_H

#include "backends/opencl/device.h"

/* A sub-buffer from `offset` to the range's end. */
typedef struct tn_opencl_view {
  uint64_t offset;
  cl_mem memory;
} tn_opencl_view;

typedef struct tn_opencl_range {
  tn_address begin;
  uint64_t bytes;
  tn_backend_device *device;
  int kind;      /* tn_memory_kind */
  cl_mem memory; /* NULL: shared virtual memory */
  void *base;    /* what the driver or mmap gave; begin may lie behind it */
  uint64_t base_bytes; /* of an address range without memory */
  tn_opencl_view *views; /* by offset */
  size_t view_count, view_capacity;
} tn_opencl_range;

/* Makes a range known. TN_OUT_OF_MEMORY without host memory. */
tn_status tn_opencl_range_add(tn_opencl_range *range);

/* Forgets the range that begins there; the caller's again. NULL if none. */
tn_opencl_range *tn_opencl_range_remove(tn_address begin);

/* The range an address lies in, or NULL. It stays as long as its memory,
 * which the caller keeps from being freed. */
tn_opencl_range *tn_opencl_range_find(tn_address address);

/* The memory object of [begin + offset, end): the range's own, or a
 * sub-buffer of it that lives as long. NULL with `code`, which is
 * CL_MISALIGNED_SUB_BUFFER_OFFSET where the device cannot begin there. */
cl_mem tn_opencl_range_view(tn_opencl_range *range, uint64_t offset,
                            cl_int *code);

/* Differs whenever a range was removed between two calls. */
uint64_t tn_opencl_range_generation(void);

#endif
