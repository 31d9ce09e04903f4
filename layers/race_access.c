#include "layers/race_access.h"

#include <stdio.h>
#include <string.h>

#include "layers/race_extent.h"
#include "layers/race_memory.h"
#include "layers/race_pinned.h"
#include "layers/race_report.h"
#include "layers/race_site.h"
#include "layers/race_watch.h"

/* Each access of a call, as its descriptors and slots tell. */
typedef struct visit visit;
struct visit {
  const forward_call *call;
  order_step by;
  order_kind kind;
  bool is_host_side; /* of a copy of pinned memory */
  void (*touch)(visit *v, tn_address address, uint64_t bytes);
  tn_status status;
};

static void visit_bytes(visit *v, order_kind kind, tn_address address,
                        uint64_t bytes)
{
  v->kind = kind;
  v->touch(v, address, bytes);
}

/* Visiting -------------------------------------------------------------- */

static void visit_side(visit *v, order_kind kind, tn_address address,
                       uint64_t row_pitch, uint64_t plane_pitch)
{
  const tn_copy_desc *c = v->call->copy;
  for (uint64_t plane = 0; plane < c->depth; plane++)
    for (uint64_t row = 0; row < c->rows; row++)
      visit_bytes(v, kind, address + plane * plane_pitch + row * row_pitch,
                  c->row_bytes);
}

/* A host side that is not of pinned memory is done with when the call
 * returns. */
static void visit_copy(visit *v)
{
  const tn_copy_desc *c = v->call->copy;
  bool is_pinned = c->flags & TN_COPY_PINNED;
  v->is_host_side = c->kind == TN_COPY_HOST_TO_DEVICE;
  if (!v->is_host_side || is_pinned)
    visit_side(v, ORDER_READ, c->src, c->src_row_pitch, c->src_plane_pitch);
  v->is_host_side = c->kind == TN_COPY_DEVICE_TO_HOST;
  if (!v->is_host_side || is_pinned)
    visit_side(v, ORDER_WRITE, c->dst, c->dst_row_pitch, c->dst_plane_pitch);
}

static void visit_run(void *context, tn_address address, uint64_t bytes)
{
  visit *v = context;
  v->touch(v, address, bytes);
}

static void visit_slots(visit *v)
{
  const race_kernel *kernel = v->call->kernel->data;
  for (int i = 0; kernel && i < kernel->count; i++) {
    const race_parameter *p = kernel->parameters + i;
    if (!p->is_pointer || !v->call->slots[i]) continue;
    v->kind = p->is_written ? ORDER_WRITE : ORDER_READ;
    race_reach(kernel, i, v->call->slots, visit_run, v);
  }
}

static void visit_all(visit *v)
{
  switch (v->call->entry) {
  case FORWARD_copy_copy: visit_copy(v); break;
  case FORWARD_copy_fill:
    visit_bytes(v, ORDER_WRITE, v->call->fill->dst, v->call->bytes);
    break;
  case FORWARD_launch_launch: visit_slots(v); break;
  default: break;
  }
}

bool race_is_work(forward_entry entry)
{
  return entry == FORWARD_copy_copy || entry == FORWARD_copy_fill ||
         entry == FORWARD_launch_launch || entry == FORWARD_math_call;
}

static uint32_t note_site(const forward_call *call)
{
  char who[96];
  switch (call->entry) {
  case FORWARD_copy_copy: return race_site_note(call, "a copy");
  case FORWARD_copy_fill: return race_site_note(call, "a fill");
  case FORWARD_launch_launch:
    snprintf(who, sizeof who, "kernel %s/%s", call->kernel->module->name,
             call->kernel->name);
    return race_site_note(call, who);
  default: return race_site_note(call, "a routine");
  }
}

/* Before the call ------------------------------------------------------- */

/* Of memory that the host may use: alive, and pinned. */
static bool is_host_memory(const visit *v, const race_allocation *memory)
{
  return v->is_host_side || (memory && memory->is_pinned);
}

static void touch_before(visit *v, tn_address address, uint64_t bytes)
{
  const forward_call *call = v->call;
  const race_allocation *memory = race_memory_find(address);
  if (v->status != TN_OK) return;
  if (memory && memory->is_freed) {
    race_report("memory was used after it was given back", v->by.tag,
                "it was given back by", memory->freed);
    v->status = call->backend->host->error(
        TN_INVALID_ARGUMENT, "the race layer refuses a call: 0x%llx was given "
        "back", (unsigned long long)address);
    race_watch_cancel(v->by.tag);
  } else if (v->by.agent != RACE_HOST && is_host_memory(v, memory)) {
    race_watch_begin(call->backend->host, &v->by, v->kind == ORDER_WRITE,
                     address, bytes);
  }
  if (v->kind == ORDER_WRITE && is_host_memory(v, memory))
    race_pinned_written(address, bytes);
}

tn_status race_access_before(forward_call *call, race_agent *agent)
{
  if (!race_is_work(call->entry)) return TN_OK;
  uint32_t tag = note_site(call);
  visit v = { .call = call, .touch = touch_before,
              .by = { agent->number, agent->step + 1, tag, &agent->clock } };
  call->kept[0] = tag;
  if (!forward_is_captured(call)) visit_all(&v);
  return v.status;
}

/* After it -------------------------------------------------------------- */

/* Whether the host knows that all work which writes there has run. */
static bool is_settled(const race_allocation *memory, tn_address address,
                       uint64_t bytes)
{
  order_conflict conflict;
  if (!memory || memory->is_freed ||
      bytes > memory->address + memory->bytes - address)
    return false;
  race_step(&race_host);
  order_step by = { RACE_HOST, race_host.step, 0, &race_host.clock };
  return order_access(memory->shadow, &by, ORDER_READ,
                      address - memory->address, bytes, &conflict);
}

/* What the host does where pages are not watched shows in the bytes. */
static void note_host_memory(const visit *v, const race_allocation *memory,
                             tn_address address, uint64_t bytes)
{
  if (v->kind == ORDER_READ && v->by.agent != RACE_HOST &&
      is_settled(memory, address, bytes))
    race_pinned_read(&v->by, address, bytes);
}

static void touch_after(visit *v, tn_address address, uint64_t bytes)
{
  order_conflict conflict;
  const race_allocation *a = race_memory_find(address);
  uint64_t reached = bytes;
  if (a && !a->is_freed && bytes) {
    uint64_t offset = address - a->address;
    if (reached > a->bytes - offset) reached = a->bytes - offset;
    if (!order_access(a->shadow, &v->by, v->kind, offset, reached, &conflict))
      race_report_conflict(&v->by, v->kind, a, &conflict);
  }
  if (v->is_host_side) note_host_memory(v, a, address, bytes);
}

void race_access_after(const forward_call *call, race_agent *agent)
{
  uint32_t tag = (uint32_t)call->kept[0];
  if (call->status != TN_OK || forward_is_captured(call)) {
    race_watch_cancel(tag);
    return;
  }
  race_step(agent);
  visit v = { .call = call, .touch = touch_after,
              .by = { agent->number, agent->step, tag, &agent->clock } };
  visit_all(&v);
  /* Of a fetch to memory that is not pinned, the host has the result. */
  if (call->entry == FORWARD_copy_copy &&
      call->copy->kind == TN_COPY_DEVICE_TO_HOST &&
      !(call->copy->flags & TN_COPY_PINNED))
    race_learn(&agent->clock);
}
