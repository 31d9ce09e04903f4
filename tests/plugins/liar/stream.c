/* Lies about streams, host functions and failures. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plugins/liar/liar.h"

static tn_status wait_nothing(tn_backend_stream *stream,
                              const tn_point *points, size_t count)
{
  (void)stream, (void)points, (void)count;
  return TN_OK;
}

static tn_status flush_nothing(tn_backend_stream *stream)
{
  (void)stream;
  return TN_OK;
}

static tn_status create_least(tn_backend_device *device,
                              const tn_stream_desc *desc,
                              tn_backend_stream **stream)
{
  if (desc->priority)
    return liar_host->error(TN_INVALID_ARGUMENT, "no priority %d",
                            desc->priority);
  return liar_base.stream.create(device, desc, stream);
}

/* All streams of a device are its first one but the default. */
static tn_status create_one(tn_backend_device *device,
                            const tn_stream_desc *desc,
                            tn_backend_stream **stream)
{
  static tn_backend_stream *only;
  if (desc->flags & TN_STREAM_DEFAULT)
    return liar_base.stream.create(device, desc, stream);
  tn_status status = only ? TN_OK
                          : liar_base.stream.create(device, desc, &only);
  *stream = only;
  return status;
}

static void destroy_none(tn_backend_stream *stream) { (void)stream; }

/* Work goes to a queue of the lie's own, which nobody waits for. */
static tn_backend_stream *aside;

static tn_status fill_aside(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_fill_desc *desc)
{
  tn_stream_desc own = { .struct_size = sizeof own };
  (void)stream;
  if (!aside && liar_base.stream.create(device, &own, &aside) != TN_OK)
    return TN_OK;
  return liar_base.copy.fill(aside, device, desc);
}

/* Host functions, each on a thread of its own, at once. */
typedef struct call {
  void (*function)(void *);
  void *argument;
} call;

static void *run_call(void *argument)
{
  call c = *(call *)argument;
  free(argument);
  c.function(c.argument);
  return NULL;
}

static tn_status function_early(tn_backend_stream *stream,
                                void (*function)(void *), void *argument,
                                tn_tag tag)
{
  pthread_t thread;
  call *c = malloc(sizeof *c);
  (void)stream, (void)tag;
  *c = (call){ function, argument };
  pthread_create(&thread, NULL, run_call, c);
  pthread_detach(thread);
  return TN_OK;
}

/* At once, in the caller, without waiting for the queue. */
static tn_status function_inline(tn_backend_stream *stream,
                                 void (*function)(void *), void *argument,
                                 tn_tag tag)
{
  (void)stream, (void)tag;
  function(argument);
  return TN_OK;
}

static tn_status function_never(tn_backend_stream *stream,
                                void (*function)(void *), void *argument,
                                tn_tag tag)
{
  (void)stream, (void)function, (void)argument, (void)tag;
  return TN_OK;
}

static void run_twice(void *argument)
{
  call c = *(call *)argument;
  free(argument);
  c.function(c.argument);
  c.function(c.argument);
}

static tn_status function_twice(tn_backend_stream *stream,
                                void (*function)(void *), void *argument,
                                tn_tag tag)
{
  call *c = malloc(sizeof *c);
  *c = (call){ function, argument };
  return liar_base.stream.host_function(stream, run_twice, c, tag);
}

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void run_serial(void *argument)
{
  pthread_mutex_lock(&one_at_a_time);
  run_call(argument);
  pthread_mutex_unlock(&one_at_a_time);
}

static tn_status function_serial(tn_backend_stream *stream,
                                 void (*function)(void *), void *argument,
                                 tn_tag tag)
{
  call *c = malloc(sizeof *c);
  *c = (call){ function, argument };
  return liar_base.stream.host_function(stream, run_serial, c, tag);
}

static tn_status (*honest_take)(tn_backend_stream *, tn_error_info *);

static tn_status take_nothing(tn_backend_stream *stream, tn_error_info *info)
{
  tn_status status = honest_take(stream, info);
  info->status = TN_OK;
  info->tag = 0;
  return status;
}

static tn_status take_untagged(tn_backend_stream *stream,
                               tn_error_info *info)
{
  tn_status status = honest_take(stream, info);
  info->tag = 0;
  return status;
}

static tn_error_info remembered;

static tn_status take_again(tn_backend_stream *stream, tn_error_info *info)
{
  tn_status status = honest_take(stream, info);
  if (info->status != TN_OK) remembered = *info;
  else if (remembered.status != TN_OK) *info = remembered;
  return status;
}

static void lie_wait(void) { liar_own.stream.wait = wait_nothing; }
static void lie_flush(void) { liar_own.stream.flush = flush_nothing; }
static void lie_priority(void) { liar_own.stream.create = create_least; }

static void lie_one_queue(void)
{
  liar_own.stream.create = create_one;
  liar_own.stream.destroy = destroy_none;
}

static void lie_aside(void) { liar_own.copy.fill = fill_aside; }

static void lie_function(tn_status (*entry)(tn_backend_stream *,
                                            void (*)(void *), void *, tn_tag))
{
  liar_own.stream.host_function = entry;
}

static void lie_early(void) { lie_function(function_early); }
static void lie_inline(void) { lie_function(function_inline); }
static void lie_never(void) { lie_function(function_never); }
static void lie_twice(void) { lie_function(function_twice); }
static void lie_serial(void) { lie_function(function_serial); }

static void lie_take(tn_status (*entry)(tn_backend_stream *, tn_error_info *))
{
  honest_take = liar_own.stream.take_error;
  liar_own.stream.take_error = entry;
}

static void lie_swallowed(void) { lie_take(take_nothing); }
static void lie_untagged(void) { lie_take(take_untagged); }
static void lie_again(void) { lie_take(take_again); }

const liar_lie liar_stream_lies[] = {
  { "wait_nothing", lie_wait },
  { "flush_nothing", lie_flush },
  { "priority_refused", lie_priority },
  { "one_queue", lie_one_queue },
  { "another_queue", lie_aside },
  { "function_early", lie_early },
  { "function_inline", lie_inline },
  { "function_never", lie_never },
  { "function_twice", lie_twice },
  { "function_serial", lie_serial },
  { "error_swallowed", lie_swallowed },
  { "error_untagged", lie_untagged },
  { "error_again", lie_again },
  { NULL, NULL },
};
