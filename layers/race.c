/* The layer `race`: accesses of queued work that nothing orders, on any
 * backend, found whether or not they went wrong this time. docs/layers.md. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "layers/option.h"
#include "layers/race_access.h"
#include "layers/race_extent.h"
#include "layers/race_memory.h"
#include "layers/race_pinned.h"
#include "layers/race_report.h"
#include "layers/race_site.h"
#include "layers/race_watch.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Order ----------------------------------------------------------------- */

typedef struct told_function {
  void (*function)(void *);
  void *argument;
  order_step at; /* its place in the stream */
  order_clock clock;
} told_function;

/* It may have waited for what host memory was watched for. */
static void host_learned(void)
{
  race_watch_settle(&race_host.clock);
  race_report_trespasses();
  race_pinned_check(&race_host.clock, race_report_source);
}

static void end_function(told_function *told_of)
{
  pthread_mutex_lock(&lock);
  race_pinned_function_ended();
  pthread_mutex_unlock(&lock);
  order_clock_free(&told_of->clock);
  free(told_of);
}

/* What the queue did before, the function's thread knows. */
static void run_told(void *argument)
{
  told_function *told_of = argument;
  pthread_mutex_lock(&lock);
  race_learn(&told_of->clock);
  host_learned();
  pthread_mutex_unlock(&lock);
  race_watch_thread before = race_watch_begin_function(&told_of->at);
  told_of->function(told_of->argument);
  race_watch_end_function(&before);
  end_function(told_of);
}

/* It is a step of its stream: work behind it knows it. */
static void tell_function(forward_call *call)
{
  if (forward_is_captured(call)) return;
  race_pinned_function_queued(race_report_source);
  told_function *told_of = calloc(1, sizeof *told_of);
  call->kept[0] = (uintptr_t)told_of;
  if (!told_of) return;
  race_agent *agent = race_agent_of(call->stream);
  race_step(agent);
  order_join(&told_of->clock, &agent->clock);
  told_of->at = (order_step){ agent->number, agent->step, 0, NULL };
  told_of->function = call->function;
  told_of->argument = call->argument;
  call->function = run_told;
  call->argument = told_of;
}

/* Of a call that failed: it will not run. */
static void forget_function(const forward_call *call)
{
  told_function *told_of = (told_function *)(uintptr_t)call->kept[0];
  if (told_of) end_function(told_of);
}

static void learn_point(const forward_call *call)
{
  const order_clock *clock = race_point_clock(call->backend, call->points);
  if (!clock) return;
  race_learn(clock);
  host_learned();
}

static void wait_points(const forward_call *call)
{
  race_agent *agent = race_agent_of(call->stream);
  for (uint64_t i = 0; i < call->count; i++) {
    const order_clock *clock = race_point_clock(call->backend,
                                                call->points + i);
    if (clock) order_join(&agent->clock, clock);
  }
  if (agent == &race_host) host_learned();
}

/* A default stream on which work has run when its call returns needs no agent:
 * the host knows. */
static void begin_stream(const forward_call *call)
{
  tn_backend_device_info info = { .struct_size = sizeof info };
  const forward_backend *b = call->backend;
  bool is_known = b->device.info(b->next_self, call->device->ordinal,
                                 &info) == TN_OK;
  if (call->stream->is_default && is_known &&
      (info.capabilities & TN_CAP_INLINE_DEFAULT))
    return;
  if (!race_agent_begin(call->stream))
    b->host->log(TN_LOG_WARNING, "race: stream %llu of %s is not watched: no "
                 "memory, or more than %d streams",
                 (unsigned long long)call->stream->number, b->name,
                 ORDER_AGENTS);
}

static void begin_memory(const forward_call *call, bool is_pinned,
                         const char *who)
{
  if (!race_memory_add(call->address, call->bytes, is_pinned,
                       race_site_note(call, who)))
    call->backend->host->log(TN_LOG_WARNING, "race: %llu bytes are not "
                             "watched: no memory",
                             (unsigned long long)call->bytes);
}

static void end_memory(const forward_call *call)
{
  race_pinned_forget(call->address, call->bytes);
  race_watch_forget(call->address, call->bytes);
  race_memory_free(call->address, race_site_note(call, "the allocator"));
}

/* It is the program's, which may use it on. */
static void end_registered(const forward_call *call)
{
  uint64_t bytes = race_memory_drop(call->address);
  race_pinned_forget(call->address, bytes);
  race_watch_forget(call->address, bytes);
}

/* Kernels --------------------------------------------------------------- */

static void begin_kernel(forward_kernel *kernel)
{
  if (!kernel->data)
    kernel->data = race_kernel_make(kernel, forward_signature(kernel));
}

static void end_kernels(forward_module *module)
{
  for (forward_kernel *k = module->kernels; k; k = k->sibling) {
    free(k->data);
    k->data = NULL;
  }
}

/* Hooks ----------------------------------------------------------------- */

/* Whether it may block until work has run. */
static bool may_wait(const forward_call *call)
{
  switch (call->entry) {
  case FORWARD_copy_copy:
    return !(call->copy->flags & TN_COPY_PINNED) &&
           call->copy->kind != TN_COPY_DEVICE_TO_DEVICE;
  case FORWARD_copy_fill:
  case FORWARD_launch_launch:
  case FORWARD_stream_record:
  case FORWARD_stream_wait:
  case FORWARD_stream_flush:
  case FORWARD_stream_host_function:
  case FORWARD_stream_point_release: return false;
  default: return true;
  }
}

static void note_before(forward_call *call)
{
  switch (call->entry) {
  case FORWARD_alloc_free: end_memory(call); break;
  case FORWARD_alloc_host_unregister: end_registered(call); break;
  case FORWARD_launch_module_unload: end_kernels(call->module); break;
  case FORWARD_stream_host_function: tell_function(call); break;
  case FORWARD_stream_point_release:
    race_point_released(call->backend, call->points);
    break;
  case FORWARD_stream_destroy:
    race_agent_end(call->stream);
    host_learned();
    break;
  default: break;
  }
}

static tn_status before(forward_call *call)
{
  tn_status status = TN_OK;
  pthread_mutex_lock(&lock);
  if (call->entry == FORWARD_stream_query &&
      race_point_holds_back(call->backend, call->points))
    status = TN_NOT_READY;
  else {
    note_before(call);
    status = race_access_before(call, race_agent_of(call->stream));
  }
  pthread_mutex_unlock(&lock);
  if (status == TN_OK) race_watch_enter(may_wait(call));
  return status;
}

static void note_after(const forward_call *call)
{
  race_agent *agent = race_agent_of(call->stream);
  switch (call->entry) {
  case FORWARD_alloc_alloc:
    begin_memory(call, call->alloc->kind == TN_MEMORY_PINNED,
                 "an allocation");
    break;
  case FORWARD_alloc_host_register:
    begin_memory(call, true, "a registration");
    break;
  case FORWARD_stream_create:
  case FORWARD_stream_wrap: begin_stream(call); break;
  case FORWARD_launch_kernel_get: begin_kernel(call->kernel); break;
  case FORWARD_stream_record:
    race_step(agent);
    race_point_recorded(call->backend, call->points, agent);
    break;
  case FORWARD_stream_wait: wait_points(call); break;
  case FORWARD_stream_query:
  case FORWARD_stream_host_wait: learn_point(call); break;
  default: break;
  }
}

static void after(forward_call *call)
{
  if (call->entry == FORWARD_stream_host_function && call->status != TN_OK)
    forget_function(call);
  pthread_mutex_lock(&lock);
  if (race_is_work(call->entry)) {
    race_access_after(call, race_agent_of(call->stream));
    host_learned();
  } else if (call->status == TN_OK && !forward_is_captured(call))
    note_after(call);
  pthread_mutex_unlock(&lock);
  race_watch_leave(may_wait(call));
}

static tn_status read_options(const tn_host_api *host)
{
  char status_text[16] = "", extents[PATH_MAX] = "";
  uint64_t exit_status = 0;
  const layer_option options[] = {
    { "exit", status_text, sizeof status_text, "STATUS" },
    { "extents", extents, sizeof extents, "PATH" },
  };
  tn_status status = layer_options_read(host, options, 2);
  if (status == TN_OK && *extents) status = race_extents_read(host, extents);
  if (status != TN_OK) return status;
  if (*status_text &&
      (!layer_number(status_text, &exit_status) || exit_status > 255))
    return host->error(TN_INVALID_ARGUMENT, "exit=%s: a number from 0 to 255 "
                       "is accepted", status_text);
  race_reports_begin(host, exit_status);
  return TN_OK;
}

/* The names that this layer gave backends, which layers around it hand on: by
 * its address a backend is known that is watched already. */
typedef struct given_name {
  struct given_name *next;
  char text[];
} given_name;

static given_name *given_names;

static tn_status check_once(const tn_host_api *host, const char *name)
{
  pthread_mutex_lock(&lock);
  const given_name *given = given_names;
  while (given && given->text != name) given = given->next;
  pthread_mutex_unlock(&lock);
  return given ? host->error(TN_INVALID_ARGUMENT, "is chosen twice: one sees "
                             "all accesses")
               : TN_OK;
}

static const char *give_name(const tn_host_api *host, const char *name)
{
  size_t size = strlen(name) + 1;
  given_name *given = malloc(sizeof *given + size);
  if (!given) {
    host->error(TN_OUT_OF_MEMORY, "no memory for the name of a backend");
    return NULL;
  }
  memcpy(given->text, name, size);
  pthread_mutex_lock(&lock);
  given->next = given_names;
  given_names = given;
  pthread_mutex_unlock(&lock);
  return given->text;
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  static const forward_hooks hooks = { .before = before, .after = after,
                                       .hides_graphs = true };
  if (next && (check_once(host, next->name) != TN_OK ||
               read_options(host) != TN_OK))
    return NULL;
  forward_backend *backend = forward_make(host, next, &hooks);
  if (!backend) return NULL;
  backend->api.name = give_name(host, next->name);
  return backend->api.name ? &backend->api : NULL;
}
