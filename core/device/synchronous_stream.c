#include "config.h"

#include "core/device/synchronous_stream.h"

#include <string.h>
#include <time.h>

static tn_status create(tn_backend_device *device, const tn_stream_desc *desc,
                        tn_backend_stream **stream)
{
  (void)device, (void)desc;
  *stream = NULL;
  return TN_OK;
}

static void destroy(tn_backend_stream *stream) { (void)stream; }

/* A point is the moment it was recorded, in nanoseconds; never {0, 0}. */
static tn_status record(tn_backend_stream *stream, uint32_t flags,
                        tn_point *point)
{
  (void)stream, (void)flags;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  point->word[0] = 1;
  point->word[1] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  return TN_OK;
}

static tn_status wait_points(tn_backend_stream *stream,
                             const tn_point *points, size_t count)
{
  (void)stream, (void)points, (void)count;
  return TN_OK;
}

static tn_status query(tn_backend_device *device, const tn_point *point)
{
  (void)device, (void)point;
  return TN_OK;
}

static tn_status host_wait(tn_backend_device *device, const tn_point *point,
                           uint64_t timeout)
{
  (void)device, (void)point, (void)timeout;
  return TN_OK;
}

static void point_release(tn_backend_device *device, const tn_point *point)
{
  (void)device, (void)point;
}

static tn_status elapsed(tn_backend_device *device, const tn_point *start,
                         const tn_point *end, double *milliseconds)
{
  (void)device;
  *milliseconds = (double)(int64_t)(end->word[1] - start->word[1]) / 1e6;
  return TN_OK;
}

static tn_status take_error(tn_backend_stream *stream, tn_error_info *info)
{
  (void)stream;
  info->status = TN_OK;
  info->tag = 0;
  info->text[0] = 0;
  return TN_OK;
}

void tn_synchronous_stream_fill(tn_backend_stream_table *table)
{
  *table = (tn_backend_stream_table){
    .struct_size = sizeof *table,
    .create = create,
    .destroy = destroy,
    .record = record,
    .wait = wait_points,
    .query = query,
    .host_wait = host_wait,
    .point_release = point_release,
    .elapsed = elapsed,
    .take_error = take_error,
  };
}
