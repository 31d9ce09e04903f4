/* Lies about points. */
#include "config.h"

#include <pthread.h>
#include <stddef.h>

#include "tests/plugins/liar/liar.h"

static tn_status query_early(tn_backend_device *device, const tn_point *point)
{
  tn_status status = liar_base.stream.query(device, point);
  return status == TN_NOT_READY ? TN_OK : status;
}

static tn_status query_never(tn_backend_device *device, const tn_point *point)
{
  tn_status status = liar_base.stream.query(device, point);
  return status == TN_OK ? TN_NOT_READY : status;
}

static tn_status host_wait_early(tn_backend_device *device,
                                 const tn_point *point, uint64_t timeout)
{
  (void)device, (void)point, (void)timeout;
  return TN_OK;
}

static tn_status host_wait_endless(tn_backend_device *device,
                                   const tn_point *point, uint64_t timeout)
{
  (void)timeout;
  return liar_base.stream.host_wait(device, point, UINT64_MAX);
}

static tn_status host_wait_impatient(tn_backend_device *device,
                                     const tn_point *point, uint64_t timeout)
{
  uint64_t limit = timeout < 1000000 ? timeout : 1000000;
  return liar_base.stream.host_wait(device, point, limit);
}

static tn_status elapsed_seconds(tn_backend_device *device,
                                 const tn_point *start, const tn_point *end,
                                 double *milliseconds)
{
  tn_status status =
      liar_base.stream.elapsed(device, start, end, milliseconds);
  *milliseconds /= 1000;
  return status;
}

static tn_status elapsed_backwards(tn_backend_device *device,
                                   const tn_point *start, const tn_point *end,
                                   double *milliseconds)
{
  return liar_base.stream.elapsed(device, end, start, milliseconds);
}

/* A point is that of the record before: what came last is not in it. */
enum { STREAMS = 256 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  tn_backend_stream *stream;
  tn_point point;
} before[STREAMS];

static tn_status record_stale(tn_backend_stream *stream, uint32_t flags,
                              tn_point *point)
{
  tn_point now;
  int i = 0;
  tn_status status = liar_base.stream.record(stream, flags, &now);
  if (status != TN_OK) return status;
  pthread_mutex_lock(&lock);
  while (i < STREAMS - 1 && before[i].stream && before[i].stream != stream)
    i++;
  bool has_before = before[i].stream == stream;
  *point = before[i].point;
  before[i].stream = stream;
  before[i].point = now;
  pthread_mutex_unlock(&lock);
  return has_before ? TN_OK : liar_base.stream.record(stream, flags, point);
}

/* ---- points of other devices are not waited for ---- */

static struct {
  tn_backend_stream *stream;
  tn_backend_device *device;
} homes[STREAMS];

enum { POINTS = 4096 };
static struct {
  tn_point point;
  tn_backend_device *device;
} recorded[POINTS];
static unsigned home_count, record_count;

static tn_backend_device *home_of(tn_backend_stream *stream)
{
  for (unsigned i = 0; i < home_count; i++)
    if (homes[i].stream == stream) return homes[i].device;
  return NULL;
}

static tn_status create_noted(tn_backend_device *device,
                              const tn_stream_desc *desc,
                              tn_backend_stream **stream)
{
  tn_status status = liar_base.stream.create(device, desc, stream);
  pthread_mutex_lock(&lock);
  if (status == TN_OK && home_count < STREAMS) {
    homes[home_count].stream = *stream;
    homes[home_count++].device = device;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static tn_status record_noted(tn_backend_stream *stream, uint32_t flags,
                              tn_point *point)
{
  tn_status status = liar_base.stream.record(stream, flags, point);
  pthread_mutex_lock(&lock);
  unsigned i = record_count++ % POINTS;
  recorded[i].point = *point;
  recorded[i].device = home_of(stream);
  pthread_mutex_unlock(&lock);
  return status;
}

/* The last one that was like it. */
static bool is_of_other(const tn_point *point, const tn_backend_device *home)
{
  for (unsigned i = record_count; i-- > 0 && record_count - i < POINTS;) {
    const tn_point *p = &recorded[i % POINTS].point;
    if (p->word[0] == point->word[0] && p->word[1] == point->word[1])
      return recorded[i % POINTS].device != home;
  }
  return false;
}

static tn_status wait_near(tn_backend_stream *stream, const tn_point *points,
                           size_t count)
{
  tn_status status = TN_OK;
  for (size_t i = 0; i < count && status == TN_OK; i++) {
    pthread_mutex_lock(&lock);
    bool is_left_out = is_of_other(&points[i], home_of(stream));
    pthread_mutex_unlock(&lock);
    if (!is_left_out) status = liar_base.stream.wait(stream, &points[i], 1);
  }
  return status;
}

static void lie_near(void)
{
  liar_own.stream.create = create_noted;
  liar_own.stream.record = record_noted;
  liar_own.stream.wait = wait_near;
}

static void lie_query_early(void) { liar_own.stream.query = query_early; }
static void lie_query_never(void) { liar_own.stream.query = query_never; }

static void lie_host_wait(tn_status (*entry)(tn_backend_device *,
                                             const tn_point *, uint64_t))
{
  liar_own.stream.host_wait = entry;
}

static void lie_wait_early(void) { lie_host_wait(host_wait_early); }
static void lie_wait_endless(void) { lie_host_wait(host_wait_endless); }
static void lie_wait_impatient(void) { lie_host_wait(host_wait_impatient); }
static void lie_seconds(void) { liar_own.stream.elapsed = elapsed_seconds; }

static void lie_backwards(void)
{
  liar_own.stream.elapsed = elapsed_backwards;
}

static void lie_stale(void) { liar_own.stream.record = record_stale; }

const liar_lie liar_point_lies[] = {
  { "query_early", lie_query_early },
  { "query_never", lie_query_never },
  { "host_wait_early", lie_wait_early },
  { "host_wait_endless", lie_wait_endless },
  { "host_wait_impatient", lie_wait_impatient },
  { "elapsed_seconds", lie_seconds },
  { "elapsed_backwards", lie_backwards },
  { "record_stale", lie_stale },
  { "wait_near", lie_near },
  { NULL, NULL },
};
