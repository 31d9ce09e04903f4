#include "config.h"

#include "backends/opencl/range.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/error.h"

/* Sorted by begin. Allocations are few and long-lived, since the core caches
 * them, so inserting may move the rest. */
static struct {
  pthread_mutex_t lock;
  tn_opencl_range **list;
  size_t count, capacity;
  uint64_t generation; /* atomic */
} ranges = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The number of ranges that begin at or before `address`. */
static size_t count_before(tn_address address)
{
  size_t low = 0, high = ranges.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ranges.list[middle]->begin <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool make_room(void **list, size_t item_size, size_t count,
                      size_t *capacity)
{
  if (count < *capacity) return true;
  size_t wanted = *capacity ? *capacity * 2 : 16;
  void *grown = realloc(*list, wanted * item_size);
  if (!grown) return false;
  *list = grown;
  *capacity = wanted;
  return true;
}

tn_status tn_opencl_range_add(tn_opencl_range *range)
{
  pthread_mutex_lock(&ranges.lock);
  void *list = ranges.list;
  bool room = make_room(&list, sizeof *ranges.list, ranges.count,
                        &ranges.capacity);
  ranges.list = list;
  if (room) {
    size_t at = count_before(range->begin);
    memmove(ranges.list + at + 1, ranges.list + at,
            (ranges.count - at) * sizeof *ranges.list);
    ranges.list[at] = range;
    ranges.count++;
  }
  pthread_mutex_unlock(&ranges.lock);
  if (!room)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "no host memory to note an allocation");
  return TN_OK;
}

tn_opencl_range *tn_opencl_range_remove(tn_address begin)
{
  tn_opencl_range *range = NULL;
  pthread_mutex_lock(&ranges.lock);
  size_t at = count_before(begin);
  if (at && ranges.list[at - 1]->begin == begin) {
    range = ranges.list[at - 1];
    memmove(ranges.list + at - 1, ranges.list + at,
            (ranges.count - at) * sizeof *ranges.list);
    if (--ranges.count == 0) {
      free(ranges.list);
      ranges.list = NULL;
      ranges.capacity = 0;
    }
    __atomic_fetch_add(&ranges.generation, 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&ranges.lock);
  return range;
}

tn_opencl_range *tn_opencl_range_find(tn_address address)
{
  tn_opencl_range *range = NULL;
  pthread_mutex_lock(&ranges.lock);
  size_t at = count_before(address);
  if (at) range = ranges.list[at - 1];
  if (range && address - range->begin >= range->bytes) range = NULL;
  pthread_mutex_unlock(&ranges.lock);
  return range;
}

uint64_t tn_opencl_range_generation(void)
{
  return __atomic_load_n(&ranges.generation, __ATOMIC_ACQUIRE);
}

static cl_mem add_view(tn_opencl_range *range, size_t at, uint64_t offset,
                       cl_int *code)
{
  void *list = range->views;
  bool room = make_room(&list, sizeof *range->views, range->view_count,
                        &range->view_capacity);
  range->views = list;
  if (!room) {
    *code = CL_OUT_OF_HOST_MEMORY;
    return NULL;
  }
  cl_buffer_region region = { (size_t)offset,
                              (size_t)(range->bytes - offset) };
  cl_mem memory = cl_.CreateSubBuffer(range->memory, CL_MEM_READ_WRITE,
                                      CL_BUFFER_CREATE_TYPE_REGION, &region,
                                      code);
  if (*code) return NULL;
  memmove(range->views + at + 1, range->views + at,
          (range->view_count - at) * sizeof *range->views);
  range->views[at] = (tn_opencl_view){ offset, memory };
  range->view_count++;
  return memory;
}

cl_mem tn_opencl_range_view(tn_opencl_range *range, uint64_t offset,
                            cl_int *code)
{
  *code = CL_SUCCESS;
  if (offset == 0) return range->memory;
  if (offset % range->device->base_alignment) {
    *code = CL_MISALIGNED_SUB_BUFFER_OFFSET;
    return NULL;
  }
  pthread_mutex_lock(&ranges.lock);
  size_t low = 0, high = range->view_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (range->views[middle].offset < offset) low = middle + 1;
    else high = middle;
  }
  cl_mem memory =
      low < range->view_count && range->views[low].offset == offset
          ? range->views[low].memory
          : add_view(range, low, offset, code);
  pthread_mutex_unlock(&ranges.lock);
  return memory;
}
