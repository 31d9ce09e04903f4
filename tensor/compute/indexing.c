#include "config.h"

#include "tensor/compute/indexing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tenon/graph.h"
#include "tensor/compute/strided.h"

/* By the size of an element: 1, 4, 8 bytes. */
#define BY_SIZE(operation)                                   \
  { [1] = TN_KERNEL_ENTRY("indexing", operation "_b1"),      \
    [4] = TN_KERNEL_ENTRY("indexing", operation "_b4"),      \
    [8] = TN_KERNEL_ENTRY("indexing", operation "_b8") }

static tn_kernel_entry take[9] = BY_SIZE("take");
static tn_kernel_entry triangle[9] = BY_SIZE("triangle");
static tn_kernel_entry one_hot = TN_KERNEL_ENTRY("indexing", "one_hot_i64");

static tn_status bad_index(const int64_t *index, int64_t n, int64_t count,
                           const char *operation)
{
  for (int64_t i = 0; i < n; i++)
    if (index[i] < 0 || index[i] >= count)
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: index %" PRId64
                          " at position %" PRId64 ": size %" PRId64
                          " has indices 0 to %" PRId64, operation, index[i],
                          i, count, count - 1);
  return TN_OK;
}

/* What is queued may still write the indices, except on the default stream of
 * a backend that works on the spot: cpu. */
static tn_status check_on_host(const tn_tensor *index, int64_t count,
                               const char *operation)
{
  tn_stream *stream = tn_current_stream(tn_tensor_place(index)->device);
  if (!stream || tn_stream_synchronize(stream) != TN_OK)
    return tn_last_status();
  return bad_index(tn_tensor_address(index), index->numel, count, operation);
}

/* Counts bad ones there; only if there are any, all are brought here. */
static tn_status check_on_device(const tn_tensor *index, int64_t count,
                                 const char *operation)
{
  static tn_kernel_entry entry = TN_KERNEL_ENTRY("indexing", "index_check");
  tn_place *place = tn_tensor_place(index);
  uint32_t bad = 0;
  tn_kernel *kernel = tn_place_kernel(place, &entry);
  if (!kernel) return tn_last_status();
  tn_block *report = tn_block_new(place->device, sizeof bad);
  if (!report) return tn_last_status();
  void *address = tn_block_address(report);
  const tn_device host = { 0, 0 };
  tn_status status = tn_fill_bytes(address, place->device, 0, sizeof bad);
  if (status == TN_OK)
    status = tn_launch(
        kernel, index->numel,
        TN_ARGS(TN_ARG_PTR(address), TN_ARG_PTR(tn_tensor_address(index)),
                TN_ARG_I64(1), TN_ARG_I64(1), TN_ARG_I64(1),
                TN_ARG_I64(index->numel), TN_ARG_I64(0), TN_ARG_I64(0),
                TN_ARG_I64(0), TN_ARG_I64(1), TN_ARG_I64(count)));
  if (status == TN_OK)
    status = tn_copy(&bad, host, address, place->device, sizeof bad, false);
  tn_block_release(report);
  if (status != TN_OK || bad == 0) return status;
  int64_t *all = malloc((size_t)index->numel * sizeof *all);
  if (!all)
    return tn_set_error(TN_OUT_OF_MEMORY, "%s: %u indices are outside 0 to %"
                        PRId64, operation, bad, count - 1);
  status = tn_copy(all, host, tn_tensor_address(index), place->device,
                   (size_t)index->numel * sizeof *all, false);
  if (status == TN_OK) status = bad_index(all, index->numel, count, operation);
  free(all);
  return status;
}

tn_status tn_index_check(const tn_tensor *index, int64_t count,
                         const char *operation)
{
  tn_place *place = tn_tensor_place(index);
  if (index->numel == 0 || tn_is_current_stream_capturing(place->device))
    return TN_OK;
  return place->is_cpu
             ? check_on_host(index, count, operation)
             : check_on_device(index, count, operation);
}

tn_status tn_take_run(tn_tensor *y, const tn_tensor *x,
                      const tn_tensor *index, int64_t along, int64_t count)
{
  const size_t item = tn_dtype_size((tn_dtype)y->dtype);
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = tn_place_kernel(tn_tensor_place(y), &take[item]);
  if (!kernel) return tn_last_status();
  tn_tensor walk = *x, at = *index;
  for (int i = 0; i < y->ndim; i++) walk.sizes[i] = at.sizes[i] = y->sizes[i];
  walk.ndim = at.ndim = y->ndim;
  walk.is_contiguous = false; /* as it is walked */
  tn_tensor *operands[] = { y, &walk, &at };
  tn_layout layout;
  tn_layout_make(&layout, tn_tensor_shape(y), operands, 3);
  tn_strided addresses = { 0 };
  tn_strided_add(&addresses, tn_tensor_address(y), item);
  tn_strided_add(&addresses, tn_tensor_address(x), item);
  tn_strided_add(&addresses, tn_tensor_address(index), sizeof(int64_t));
  const tn_arg numbers[] = { tn_arg_i64(along), tn_arg_i64(count) };
  return tn_strided_run(kernel, &layout, &addresses, numbers, 2);
}

tn_status tn_triangle_run(tn_tensor *y, const tn_tensor *x, int64_t low,
                          int64_t high)
{
  const size_t item = tn_dtype_size((tn_dtype)y->dtype);
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = tn_place_kernel(tn_tensor_place(y), &triangle[item]);
  if (!kernel) return tn_last_status();
  tn_layout layout = { .ndim = y->ndim };
  for (int i = 0; i < y->ndim; i++) {
    layout.sizes[i] = y->sizes[i];
    layout.strides[0][i] = y->strides[i];
    layout.strides[1][i] = x->strides[i];
  }
  tn_strided addresses = { 0 };
  tn_strided_add(&addresses, tn_tensor_address(y), item);
  tn_strided_add(&addresses, tn_tensor_address(x), item);
  const tn_arg numbers[] = { tn_arg_i64(low), tn_arg_i64(high) };
  return tn_strided_run(kernel, &layout, &addresses, numbers, 2);
}

tn_status tn_one_hot_run(tn_tensor *y, const tn_tensor *index)
{
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = tn_place_kernel(tn_tensor_place(y), &one_hot);
  if (!kernel) return tn_last_status();
  return tn_launch(kernel, y->numel,
                   TN_ARGS(TN_ARG_PTR(tn_tensor_address(y)),
                           TN_ARG_PTR(tn_tensor_address(index)),
                           TN_ARG_I64(index->numel),
                           TN_ARG_I64(y->sizes[y->ndim - 1])));
}
