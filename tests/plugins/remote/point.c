/* Points: marks in a table of their own, so that one outlives its stream and
 * a stale one is noticed. */
#include "tests/plugins/remote/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct remote_point {
  uint64_t number; /* word[1] */
  size_t index;    /* word[0] - 1 */
  unsigned references;
  bool complete, dropped;
  tn_backend_stream *pending_on; /* until submitted */
};

static remote_point **table;
static size_t table_count;
static uint64_t last_number;

/* A free place in the table; lock held. */
static bool place(size_t *index)
{
  for (*index = 0; *index < table_count; ++*index)
    if (!table[*index]) return true;
  size_t room = table_count ? 2 * table_count : 64;
  remote_point **more = realloc(table, room * sizeof *table);
  if (!more) return false;
  for (size_t i = table_count; i < room; i++) more[i] = NULL;
  table = more;
  table_count = room;
  return true;
}

remote_point *remote_point_new(tn_backend_stream *stream, tn_point *out)
{
  remote_point *point = calloc(1, sizeof *point);
  if (!point) return NULL;
  pthread_mutex_lock(&remote_lock);
  bool placed = place(&point->index);
  if (placed) {
    table[point->index] = point;
    point->number = ++last_number;
    point->references = 2;
    point->pending_on = stream;
    *out = (tn_point){ { point->index + 1, point->number } };
  }
  pthread_mutex_unlock(&remote_lock);
  if (placed) return point;
  free(point);
  return NULL;
}

remote_point *remote_point_find(const tn_point *words, const char *entry)
{
  uint64_t index = words->word[0] - 1;
  remote_point *point = index < table_count ? table[index] : NULL;
  if (!point || point->number != words->word[1] || point->dropped)
    remote_broken("stream.%s: point {%llu, %llu} was released or never made",
                  entry, (unsigned long long)words->word[0],
                  (unsigned long long)words->word[1]);
  return point;
}

void remote_point_retain(remote_point *point)
{
  point->references++;
}

void remote_point_release(remote_point *point)
{
  if (--point->references) return;
  table[point->index] = NULL;
  free(point);
}

tn_backend_stream *remote_point_stream(const remote_point *point)
{
  return point->pending_on;
}

void remote_point_submitted(remote_point *point)
{
  point->pending_on = NULL;
}

void remote_point_complete(remote_point *point)
{
  point->complete = true;
  remote_point_release(point);
}

bool remote_point_is_complete(const remote_point *point)
{
  return point->complete;
}

static tn_status record(tn_backend_stream *stream, uint32_t flags,
                        tn_point *out)
{
  if (flags & ~TN_RECORD_TIMING)
    return remote_host->error(TN_INVALID_ARGUMENT,
                              "record has unknown flags 0x%x",
                              (unsigned)flags);
  tn_status status = remote_device_check(stream->device);
  if (status) return status;
  remote_command *command = remote_command_new(stream, REMOTE_MARK, 0);
  if (!command) return TN_OUT_OF_MEMORY;
  command->as.mark = remote_point_new(stream, out);
  if (command->as.mark) {
    remote_command_queue(command);
    return TN_OK;
  }
  remote_command_free(command);
  return remote_host->error(TN_OUT_OF_MEMORY, "no memory for a point");
}

tn_status remote_record(tn_backend_stream *stream, uint32_t flags,
                        tn_point *out)
{
  remote_stream_enter(stream, "record");
  remote_capture_check(stream, "record");
  tn_status status = record(stream, flags, out);
  remote_stream_leave(stream);
  return status;
}

/* Takes the points over. One of another stream must have been flushed: work
 * that was not never starts, and a queue that waits for it stands still. */
static void collect(remote_command *command, const tn_point *points)
{
  pthread_mutex_lock(&remote_lock);
  for (size_t i = 0; i < command->as.wait.count; i++) {
    remote_point *point = remote_point_find(&points[i], "wait");
    tn_backend_stream *pending_on = remote_point_stream(point);
    if (pending_on && pending_on != command->stream)
      remote_broken("stream.wait: the point's stream was not flushed");
    remote_point_retain(point);
    command->as.wait.points[i] = point;
  }
  pthread_mutex_unlock(&remote_lock);
}

static tn_status wait(tn_backend_stream *stream, const tn_point *points,
                      size_t count)
{
  tn_status status = remote_device_check(stream->device);
  if (status || !count) return status;
  remote_command *command = remote_command_new(stream, REMOTE_WAIT, 0);
  if (!command) return TN_OUT_OF_MEMORY;
  command->as.wait.count = count;
  command->as.wait.points = calloc(count, sizeof *command->as.wait.points);
  if (!command->as.wait.points) {
    remote_command_free(command);
    return remote_host->error(TN_OUT_OF_MEMORY, "no memory for a wait");
  }
  collect(command, points);
  remote_command_queue(command);
  return TN_OK;
}

tn_status remote_wait(tn_backend_stream *stream, const tn_point *points,
                      size_t count)
{
  remote_stream_enter(stream, "wait");
  remote_capture_check(stream, "wait");
  tn_status status = wait(stream, points, count);
  remote_stream_leave(stream);
  return status;
}

tn_status remote_query(tn_backend_device *device, const tn_point *words)
{
  (void)device;
  pthread_mutex_lock(&remote_lock);
  bool complete = remote_point_find(words, "query")->complete;
  pthread_mutex_unlock(&remote_lock);
  return complete ? TN_OK : TN_NOT_READY;
}

/* The moment `timeout` nanoseconds from now; false: never. */
static bool deadline(uint64_t timeout, struct timespec *at)
{
  const uint64_t second = 1000000000;
  if (timeout / second > 1000000000) return false;
  clock_gettime(CLOCK_REALTIME, at);
  at->tv_sec += (time_t)(timeout / second);
  at->tv_nsec += (long)(timeout % second);
  if (at->tv_nsec < (long)second) return true;
  at->tv_nsec -= (long)second;
  at->tv_sec++;
  return true;
}

tn_status remote_host_wait(tn_backend_device *device, const tn_point *words,
                           uint64_t timeout)
{
  struct timespec at;
  bool limited = deadline(timeout, &at);
  int error = 0;
  (void)device;
  pthread_mutex_lock(&remote_lock);
  remote_point *point = remote_point_find(words, "host_wait");
  remote_point_retain(point);
  if (point->pending_on) remote_stream_submit(point->pending_on);
  while (!point->complete && error != ETIMEDOUT)
    error = limited
                ? pthread_cond_timedwait(&remote_changed, &remote_lock, &at)
                : pthread_cond_wait(&remote_changed, &remote_lock);
  bool complete = point->complete;
  remote_point_release(point);
  pthread_mutex_unlock(&remote_lock);
  if (complete) return TN_OK;
  return remote_host->error(TN_TIMEOUT, "not complete within %llu ns",
                            (unsigned long long)timeout);
}

void remote_point_drop(tn_backend_device *device, const tn_point *words)
{
  (void)device;
  pthread_mutex_lock(&remote_lock);
  remote_point *point = remote_point_find(words, "point_release");
  point->dropped = true;
  remote_point_release(point);
  pthread_mutex_unlock(&remote_lock);
}
