/* The layer `race`: accesses of queued work that nothing orders, on any
 * backend, found whether or not they went wrong this time. docs/layers.md. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/option.h"
#include "layers/race_clock.h"
#include "layers/race_memory.h"
#include "layers/race_pinned.h"
#include "layers/race_site.h"

enum { REPORTS_MAX = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const tn_host_api *the_host;
static uint64_t exit_status;

/* Reports --------------------------------------------------------------- */

static unsigned report_count;

typedef struct places {
  uintptr_t one, other;
} places;

static places told[REPORTS_MAX];

/* Of each two places in the program the first one only. */
static bool is_new(uint32_t tag, uint32_t other)
{
  places now = { race_site_place(tag), race_site_place(other) };
  for (unsigned i = 0; i < report_count && i < REPORTS_MAX; i++)
    if (told[i].one == now.one && told[i].other == now.other) return false;
  if (report_count < REPORTS_MAX) told[report_count] = now;
  return true;
}

static void report(const char *what, uint32_t tag, const char *and,
                   uint32_t other)
{
  char one[400], two[400];
  if (!is_new(tag, other)) return;
  report_count++;
  if (report_count > REPORTS_MAX) return;
  race_site_describe(tag, one, sizeof one);
  race_site_describe(other, two, sizeof two);
  the_host->log(TN_LOG_ERROR, "race: %s: %s; %s %s", what, one, and, two);
}

static void report_conflict(const order_step *by, order_kind kind,
                            tn_address address, const order_conflict *with)
{
  char what[160];
  snprintf(what, sizeof what, "a %s and a %s of the byte at 0x%llx are in no "
           "order", kind == ORDER_WRITE ? "write" : "read",
           with->kind == ORDER_WRITE ? "write" : "read",
           (unsigned long long)(address + with->offset));
  report(what, by->tag, "and", with->tag);
}

static void report_source(uint32_t tag, tn_address address)
{
  char what[160];
  snprintf(what, sizeof what, "the host wrote to pinned memory at 0x%llx "
           "before it waited for the copy that reads it",
           (unsigned long long)address);
  report(what, tag, "the host knew of its end only after", tag);
}

__attribute__((destructor)) static void end_with_reports(void)
{
  if (!report_count || !the_host || the_host->is_forked_child()) return;
  the_host->log(TN_LOG_ERROR, "race: %u places were found%s", report_count,
                report_count > REPORTS_MAX ? ", the first 100 told" : "");
  if (!exit_status) return;
  fflush(NULL);
  _Exit((int)exit_status);
}

/* Accesses -------------------------------------------------------------- */

static void access_bytes(const order_step *by, order_kind kind,
                         tn_address address, uint64_t bytes)
{
  order_conflict conflict;
  race_allocation *a = race_memory_find(address);
  if (!a || !bytes) return;
  if (a->is_freed) return; /* told before the call */
  uint64_t offset = address - a->address;
  if (bytes > a->bytes - offset) bytes = a->bytes - offset;
  if (!order_access(a->shadow, by, kind, offset, bytes, &conflict))
    report_conflict(by, kind, a->address, &conflict);
}

static void access_rows(const order_step *by, order_kind kind,
                        tn_address address, const tn_copy_desc *copy,
                        uint64_t row_pitch, uint64_t plane_pitch)
{
  for (uint64_t plane = 0; plane < copy->depth; plane++)
    for (uint64_t row = 0; row < copy->rows; row++)
      access_bytes(by, kind, address + plane * plane_pitch + row * row_pitch,
                   copy->row_bytes);
}

static order_step next_step(race_agent *agent, uint32_t tag)
{
  race_step(agent);
  return (order_step){ agent->number, agent->step, tag, &agent->clock };
}

static bool is_plain(const tn_copy_desc *copy)
{
  return copy->rows == 1 && copy->depth == 1;
}

/* Whether the host knows that all work which writes there has run. */
static bool is_settled(tn_address address, uint64_t bytes)
{
  order_conflict conflict;
  const race_allocation *a = race_memory_find(address);
  if (!a || a->is_freed || bytes > a->address + a->bytes - address)
    return false;
  race_step(&race_host);
  order_step by = { RACE_HOST, race_host.step, 0, &race_host.clock };
  return order_access(a->shadow, &by, ORDER_READ, address - a->address, bytes,
                      &conflict);
}

/* Of a copy of pinned memory. */
static void note_host_side(const order_step *by, const tn_copy_desc *c)
{
  if (c->kind == TN_COPY_DEVICE_TO_HOST)
    race_pinned_written(c->dst, is_plain(c) ? c->row_bytes
                                            : c->depth * c->dst_plane_pitch +
                                                  c->rows * c->dst_row_pitch);
  else if (c->kind == TN_COPY_HOST_TO_DEVICE && is_plain(c) &&
           by->agent != RACE_HOST && is_settled(c->src, c->row_bytes))
    race_pinned_read(by, c->src, c->row_bytes);
}

/* The host's side of a copy that is not of pinned memory is done with when the
 * call returns; of a fetched one, so is the copy. */
static void note_copy(const forward_call *call, race_agent *agent)
{
  const tn_copy_desc *c = call->copy;
  bool is_pinned = c->flags & TN_COPY_PINNED;
  order_step by = next_step(agent, race_site_note(call, "a copy"));
  if (c->kind != TN_COPY_HOST_TO_DEVICE || is_pinned)
    access_rows(&by, ORDER_READ, c->src, c, c->src_row_pitch,
                c->src_plane_pitch);
  if (c->kind != TN_COPY_DEVICE_TO_HOST || is_pinned)
    access_rows(&by, ORDER_WRITE, c->dst, c, c->dst_row_pitch,
                c->dst_plane_pitch);
  if (!is_pinned && c->kind == TN_COPY_DEVICE_TO_HOST)
    race_learn(&agent->clock);
  if (is_pinned) note_host_side(&by, c);
}

static void note_fill(const forward_call *call, race_agent *agent)
{
  order_step by = next_step(agent, race_site_note(call, "a fill"));
  access_bytes(&by, ORDER_WRITE, call->fill->dst, call->bytes);
  race_pinned_written(call->fill->dst, call->bytes);
}

static uint64_t bytes_of(const char *type)
{
  if (strncmp(type, "double", 6) == 0 || strstr(type, "64")) return 8;
  if (strstr(type, "16")) return 2;
  return strstr(type, "int8") ? 1 : 4;
}

/* How far a kernel goes from a pointer is not known. That it uses what is
 * there, is: one element stands for the argument. */
static void note_argument(const order_step *by, const char *parameter,
                          size_t length, uint64_t slot)
{
  char text[128];
  snprintf(text, sizeof text, "%.*s", (int)length, parameter);
  bool is_out = strncmp(text, "OUT", 3) == 0;
  const char *comma = strchr(text, ',');
  if (!comma || !slot || (!is_out && strncmp(text, "IN", 2) != 0)) return;
  const char *type = comma + 1 + strspn(comma + 1, " ");
  char *end = strchr(type, ',');
  if (end) *end = 0;
  uint64_t bytes = bytes_of(type);
  access_bytes(by, is_out ? ORDER_WRITE : ORDER_READ, slot, bytes);
  if (is_out) race_pinned_written(slot, bytes);
}

static void note_launch(const forward_call *call, race_agent *agent)
{
  char who[96];
  const char *at = call->kernel->data;
  snprintf(who, sizeof who, "kernel %s/%s", call->kernel->module->name,
           call->kernel->name);
  order_step by = next_step(agent, race_site_note(call, who));
  for (int i = 0; at && (at = strchr(at, '(')) != NULL; i++) {
    size_t length = strcspn(++at, ")");
    note_argument(&by, at, length, call->slots[i]);
    at += length;
  }
}

static void note_math(const forward_call *call, race_agent *agent)
{
  next_step(agent, race_site_note(call, "a routine"));
}

/* Order ----------------------------------------------------------------- */

typedef struct told_function {
  void (*function)(void *);
  void *argument;
  order_clock clock;
} told_function;

/* What the queue did before, the function's thread knows. */
static void run_told(void *argument)
{
  told_function *told_of = argument;
  pthread_mutex_lock(&lock);
  race_learn(&told_of->clock);
  race_pinned_check(&race_host.clock, report_source);
  pthread_mutex_unlock(&lock);
  told_of->function(told_of->argument);
  order_clock_free(&told_of->clock);
  free(told_of);
}

static void tell_function(forward_call *call)
{
  told_function *told_of = calloc(1, sizeof *told_of);
  if (!told_of) return;
  race_agent *agent = race_agent_of(call->stream);
  order_join(&told_of->clock, &agent->clock);
  told_of->function = call->function;
  told_of->argument = call->argument;
  call->function = run_told;
  call->argument = told_of;
}

static void learn_point(const forward_call *call)
{
  const order_clock *clock = race_point_clock(call->backend, call->points);
  if (!clock) return;
  race_learn(clock);
  race_pinned_check(&race_host.clock, report_source);
}

static void wait_points(const forward_call *call)
{
  race_agent *agent = race_agent_of(call->stream);
  for (uint64_t i = 0; i < call->count; i++) {
    const order_clock *clock = race_point_clock(call->backend,
                                                call->points + i);
    if (clock) order_join(&agent->clock, clock);
  }
  race_pinned_check(&race_host.clock, report_source);
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

static void begin_memory(const forward_call *call)
{
  if (!race_memory_add(call->address, call->bytes,
                       race_site_note(call, "an allocation")))
    call->backend->host->log(TN_LOG_WARNING, "race: %llu bytes are not "
                             "watched: no memory",
                             (unsigned long long)call->bytes);
}

/* Use after free -------------------------------------------------------- */

static tn_status check_alive(const forward_call *call, tn_address address,
                             const char *who)
{
  const race_allocation *a = race_memory_find(address);
  if (!address || !a || !a->is_freed) return TN_OK;
  report("memory was used after it was given back",
         race_site_note(call, who), "it was given back by", a->freed);
  return call->backend->host->error(
      TN_INVALID_ARGUMENT, "the race layer refuses %s: 0x%llx was given back",
      who, (unsigned long long)address);
}

static tn_status check_slots(const forward_call *call)
{
  tn_status status = TN_OK;
  const char *at = call->kernel->data;
  for (int i = 0; at && status == TN_OK && (at = strchr(at, '(')); i++) {
    if (strncmp(++at, "VAL", 3) != 0)
      status = check_alive(call, call->slots[i], call->kernel->name);
  }
  return status;
}

static tn_status check_uses(const forward_call *call)
{
  tn_status status = TN_OK;
  switch (call->entry) {
  case FORWARD_copy_copy:
    if (call->copy->dst_device)
      status = check_alive(call, call->copy->dst, "a copy");
    if (status == TN_OK && call->copy->src_device)
      status = check_alive(call, call->copy->src, "a copy");
    return status;
  case FORWARD_copy_fill: return check_alive(call, call->fill->dst, "a fill");
  case FORWARD_launch_launch: return check_slots(call);
  default: return TN_OK;
  }
}

/* Hooks ----------------------------------------------------------------- */

static void end_memory(const forward_call *call)
{
  race_pinned_forget(call->address, call->bytes);
  race_memory_free(call->address, race_site_note(call, "the allocator"));
}

static void note_before(forward_call *call)
{
  switch (call->entry) {
  case FORWARD_alloc_free: end_memory(call); break;
  case FORWARD_stream_host_function: tell_function(call); break;
  case FORWARD_stream_point_release:
    race_point_released(call->backend, call->points);
    break;
  case FORWARD_stream_destroy:
    race_agent_end(call->stream);
    race_pinned_check(&race_host.clock, report_source);
    break;
  default: break;
  }
}

static tn_status before(forward_call *call)
{
  pthread_mutex_lock(&lock);
  note_before(call);
  tn_status status = check_uses(call);
  pthread_mutex_unlock(&lock);
  return status;
}

static void note_after(const forward_call *call)
{
  race_agent *agent = race_agent_of(call->stream);
  switch (call->entry) {
  case FORWARD_alloc_alloc: begin_memory(call); break;
  case FORWARD_stream_create:
  case FORWARD_stream_wrap: begin_stream(call); break;
  case FORWARD_launch_kernel_get:
    call->kernel->data = (void *)(uintptr_t)forward_signature(call->kernel);
    break;
  case FORWARD_copy_copy: note_copy(call, agent); break;
  case FORWARD_copy_fill: note_fill(call, agent); break;
  case FORWARD_launch_launch: note_launch(call, agent); break;
  case FORWARD_math_call: note_math(call, agent); break;
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
  if (call->status != TN_OK || forward_is_captured(call)) return;
  pthread_mutex_lock(&lock);
  note_after(call);
  pthread_mutex_unlock(&lock);
}

static tn_status read_options(const tn_host_api *host)
{
  char text[16] = "";
  const layer_option options[] = { { "exit", text, sizeof text, "STATUS" } };
  tn_status status = layer_options_read(host, options, 1);
  if (status != TN_OK || !*text) return status;
  if (layer_number(text, &exit_status) && exit_status <= 255) return TN_OK;
  exit_status = 0;
  return host->error(TN_INVALID_ARGUMENT, "exit=%s: a number from 0 to 255 is "
                     "accepted", text);
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  static const forward_hooks hooks = {
    .before = before, .after = after, .hides_graphs = true
  };
  if (next && read_options(host) != TN_OK) return NULL;
  if (next) the_host = host;
  forward_backend *backend = forward_make(host, next, &hooks);
  return backend ? &backend->api : NULL;
}
