#include "backends/cpu/event.h"

#include <stdlib.h>

#include "backends/cpu/park.h"
#include "backends/cpu/stream.h"
#include "backends/cpu/workers.h"

/* When a point was reached. Held by the point, and by the queue until then. */
typedef struct timing {
  tn_backend_stream *stream;
  _Atomic int holders;
  uint64_t time; /* of tn_cpu_clock */
} timing;

#define TIMING_MARK UINT64_C(1)

static timing *point_timing(const tn_point *point)
{
  if (!(point->word[0] & TIMING_MARK)) return NULL;
  return (timing *)(uintptr_t)(point->word[0] & ~TIMING_MARK);
}

static tn_backend_stream *point_stream(const tn_point *point)
{
  timing *record = point_timing(point);
  if (record) return record->stream;
  return (tn_backend_stream *)(uintptr_t)point->word[0];
}

static bool point_has_passed(const tn_point *point)
{
  return tn_cpu_stream_has_run(point_stream(point), point->word[1]);
}

static tn_status point_check(const tn_point *point)
{
  if (point->word[0]) return TN_OK;
  return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                            "point {0, %llu} was never recorded",
                            (unsigned long long)point->word[1]);
}

static void timing_release(timing *record)
{
  if (atomic_fetch_sub(&record->holders, 1) == 1) free(record);
}

typedef struct timing_command {
  tn_cpu_command base;
  timing *record;
} timing_command;

static void timing_command_run(tn_cpu_command *command)
{
  timing *record = ((timing_command *)command)->record;
  record->time = tn_cpu_clock();
  timing_release(record);
}

/* Has the stream note the time when it gets here. */
static tn_status timing_queue(tn_backend_stream *stream, timing *record)
{
  tn_cpu_command *base;
  tn_status status = tn_cpu_stream_reserve(stream, timing_command_run,
                                           sizeof(timing_command), &base);
  if (status) return status;
  ((timing_command *)base)->record = record;
  atomic_fetch_add(&record->holders, 1);
  tn_cpu_stream_submit(stream);
  return TN_OK;
}

static tn_status timing_record(tn_backend_stream *stream, tn_point *point)
{
  timing *record = malloc(sizeof *record);
  if (!record)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory for a timed point");
  record->stream = stream;
  record->time = tn_cpu_clock();
  atomic_init(&record->holders, 1);
  tn_status status =
    stream->is_inline ? TN_OK : timing_queue(stream, record);
  if (status) {
    free(record);
    return status;
  }
  point->word[0] = (uintptr_t)record | TIMING_MARK;
  point->word[1] = tn_cpu_stream_queued(stream);
  return TN_OK;
}

tn_status tn_cpu_event_record(tn_backend_stream *stream, uint32_t flags,
                              tn_point *point)
{
  tn_status status = tn_cpu_flags_check("record", flags, TN_RECORD_TIMING);
  if (status) return status;
  if (flags & TN_RECORD_TIMING) return timing_record(stream, point);
  point->word[0] = (uintptr_t)stream;
  point->word[1] = tn_cpu_stream_queued(stream);
  return TN_OK;
}

typedef struct wait_command {
  tn_cpu_command base;
  tn_backend_stream *stream;
  uint64_t count;
} wait_command;

static void wait_command_run(tn_cpu_command *command)
{
  wait_command *wait = (wait_command *)command;
  if (tn_cpu_stream_has_run(wait->stream, wait->count)) return;
  tn_cpu_workers_leave();
  tn_cpu_stream_await(wait->stream, wait->count, TN_CPU_NO_DEADLINE);
  tn_cpu_workers_enter();
}

static tn_status wait_queue(tn_backend_stream *stream, const tn_point *point)
{
  tn_cpu_command *base;
  tn_status status = tn_cpu_stream_reserve(stream, wait_command_run,
                                           sizeof(wait_command), &base);
  if (status) return status;
  wait_command *command = (wait_command *)base;
  command->stream = point_stream(point);
  command->count = point->word[1];
  tn_cpu_stream_submit(stream);
  return TN_OK;
}

tn_status tn_cpu_event_wait(tn_backend_stream *stream, const tn_point *points,
                            size_t count)
{
  tn_status status = TN_OK;
  for (size_t i = 0; i < count && !status; i++) {
    status = point_check(&points[i]);
    if (status || point_has_passed(&points[i])) continue;
    if (stream->is_inline)
      tn_cpu_stream_await(point_stream(&points[i]), points[i].word[1],
                          TN_CPU_NO_DEADLINE);
    else if (point_stream(&points[i]) != stream)
      status = wait_queue(stream, &points[i]);
  }
  return status;
}

tn_status tn_cpu_event_query(tn_backend_device *device, const tn_point *point)
{
  (void)device;
  tn_status status = point_check(point);
  if (status) return status;
  return point_has_passed(point) ? TN_OK : TN_NOT_READY;
}

tn_status tn_cpu_event_host_wait(tn_backend_device *device,
                                 const tn_point *point, uint64_t timeout)
{
  (void)device;
  tn_status status = point_check(point);
  if (status || point_has_passed(point)) return status;
  if (tn_cpu_stream_await(point_stream(point), point->word[1],
                          tn_cpu_deadline(timeout)))
    return TN_OK;
  return tn_cpu_host->error(TN_TIMEOUT,
                            "queued work did not end within %.3f ms",
                            (double)timeout / 1e6);
}

void tn_cpu_event_release(tn_backend_device *device, const tn_point *point)
{
  (void)device;
  timing *record = point_timing(point);
  if (record) timing_release(record);
}

tn_status tn_cpu_event_elapsed(tn_backend_device *device,
                               const tn_point *start, const tn_point *end,
                               double *milliseconds)
{
  (void)device;
  timing *from = point_timing(start), *to = point_timing(end);
  if (!from || !to)
    return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                              "elapsed time: the %s point was recorded "
                              "without timing",
                              from ? "end" : "start");
  if (!point_has_passed(start) || !point_has_passed(end))
    return tn_cpu_host->error(TN_NOT_READY,
                              "elapsed time: the %s point is not complete",
                              point_has_passed(start) ? "end" : "start");
  *milliseconds = (double)(int64_t)(to->time - from->time) / 1e6;
  return TN_OK;
}

