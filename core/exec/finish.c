#include "config.h"

#include "core/exec/finish.h"

#include <pthread.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/shutdown.h"
#include "core/exec/capture.h"
#include "core/exec/presence.h"
#include "core/exec/stream_pool.h"

/* How long the end waits for threads that are inside the library, and for
 * work that is queued. Whoever needs more synchronises before. */
#define PATIENCE_S 10

static tn_status wait_one(tn_stream *stream, void *argument)
{
  bool *late = argument;
  if (tn_is_captured(stream)) return TN_OK; /* nothing runs there */
  uint64_t limit = (uint64_t)PATIENCE_S * 1000000000;
  tn_status status = tn_stream_wait_idle(stream, limit);
  *late = status == TN_TIMEOUT;
  return *late ? status : TN_OK;
}

static tn_status flush_one(tn_stream *stream, void *argument)
{
  (void)argument;
  tn_moment *moment;
  tn_stream_moment(stream, TN_MOMENT_FLUSH, &moment);
  tn_moment_release(moment);
  return TN_OK;
}

static void flush_device(tn_device_state *state, void *argument)
{
  tn_stream_visit(state, flush_one, argument);
}

static void wait_device(tn_device_state *state, void *argument)
{
  bool *late = argument;
  if (!*late) tn_stream_visit(state, wait_one, late);
}

/* Says by *late what keeps the program. */
static bool is_quiet(bool *late)
{
  tn_device_visit(flush_device, NULL);
  tn_device_visit(wait_device, late);
  if (*late || !tn_presence_drain(PATIENCE_S)) return false;
  /* What those threads queued on their way out. */
  tn_device_visit(wait_device, late);
  return !*late;
}

static void wait_for_all(void)
{
  bool late = false;
  tn_error_state before;
  tn_error_save(&before);
  bool quiet = is_quiet(&late);
  tn_error_restore(&before);
  if (quiet) return;
  tn_log(TN_LOG_WARNING, "the program ends while %s: nothing is given back",
         late ? "queued work still runs" : "a thread is inside the library");
  tn_shutdown_abandon();
}

static void destroy_one(tn_device_state *state, void *argument)
{
  (void)argument;
  tn_stream_pool_destroy(state);
}

static void destroy_streams(void) { tn_device_visit(destroy_one, NULL); }

static void arm(void)
{
  /* Registered first, so taken last, as by everybody. */
  pthread_atfork(tn_capture_marks_lock, tn_capture_marks_unlock,
                 tn_capture_marks_unlock);
  pthread_atfork(tn_stream_pool_before_fork, tn_stream_pool_after_fork,
                 tn_stream_pool_in_child);
  tn_shutdown_hook(TN_SHUTDOWN_WAIT, wait_for_all);
  tn_shutdown_hook(TN_SHUTDOWN_EXEC, destroy_streams);
}

void tn_exec_arm(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, arm);
}
