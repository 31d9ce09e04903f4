#include "config.h"

#include "core/exec/moment.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/exec/capture.h"
#include "core/exec/presence.h"
#include "core/exec/stream_pool.h"

static tn_moment_list *list_of(const tn_device_state *state)
{
  return &atomic_load_explicit(&state->streams, memory_order_acquire)->moments;
}

static void release_point(const tn_moment *moment)
{
  const tn_device_state *state = moment->state;
  state->backend->stream.point_release(state->handle, &moment->point);
}

/* The list's lock is held. */
static void link_moment(tn_moment_list *list, tn_moment *moment)
{
  moment->is_listed = true;
  moment->before = NULL;
  moment->next = list->first;
  if (moment->next) moment->next->before = moment;
  list->first = moment;
}

static void unlink_moment(tn_moment_list *list, tn_moment *moment)
{
  moment->is_listed = false;
  if (moment->next) moment->next->before = moment->before;
  if (moment->before) moment->before->next = moment->next;
  else list->first = moment->next;
}

static void init(tn_moment *moment, tn_device_state *state)
{
  tn_refcount_init(&moment->refs);
  atomic_init(&moment->is_complete, false);
  moment->state = state;
  moment->mark = NULL;
  moment->is_dead = moment->is_listed = false;
}

tn_moment *tn_moment_of_capture(tn_device_state *state,
                                struct tn_capture_mark *mark)
{
  tn_moment *moment = malloc(sizeof *moment);
  if (!moment) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for an event's moment");
    return NULL;
  }
  init(moment, state);
  moment->mark = mark;
  return moment;
}

tn_moment *tn_moment_new(tn_device_state *state, const tn_point *point)
{
  tn_moment *moment = malloc(sizeof *moment);
  if (!moment) {
    state->backend->stream.point_release(state->handle, point);
    return NULL;
  }
  init(moment, state);
  moment->point = *point;
  tn_moment_list *list = list_of(state);
  tn_brief_lock_take(&list->lock);
  link_moment(list, moment);
  tn_brief_lock_give(&list->lock);
  return moment;
}

/* False if the end will do it. */
static bool unlist(tn_moment *moment, bool *has_point)
{
  tn_moment_list *list = list_of(moment->state);
  tn_brief_lock_take(&list->lock);
  *has_point = moment->is_listed;
  bool is_ours = !moment->is_listed || !tn_is_shut_down();
  if (!is_ours) moment->is_dead = true;
  else if (moment->is_listed) unlink_moment(list, moment);
  tn_brief_lock_give(&list->lock);
  return is_ours;
}

void tn_moment_release(tn_moment *moment)
{
  if (!moment || !tn_refcount_release(&moment->refs)) return;
  if (moment->mark) {
    tn_capture_mark_release(moment->mark);
    free(moment);
    return;
  }
  bool is_inside = tn_enter_to_release(moment->state), has_point;
  if (unlist(moment, &has_point)) {
    if (has_point && is_inside) release_point(moment);
    free(moment);
  }
  if (is_inside) tn_leave();
}

void tn_moment_list_finish(tn_moment_list *list)
{
  tn_brief_lock_take(&list->lock);
  while (list->first) {
    tn_moment *moment = list->first;
    release_point(moment);
    unlink_moment(list, moment);
    atomic_store(&moment->is_complete, true);
    if (moment->is_dead) free(moment);
  }
  tn_brief_lock_give(&list->lock);
}

static bool is_past(tn_moment *moment)
{
  return !moment ||
         atomic_load_explicit(&moment->is_complete, memory_order_acquire);
}

static void set_past(tn_moment *moment)
{
  atomic_store_explicit(&moment->is_complete, true, memory_order_release);
}

tn_status tn_moment_poll(tn_moment *moment)
{
  if (is_past(moment)) return TN_OK;
  if (moment->mark) return TN_NOT_READY;
  tn_device_state *state = moment->state;
  tn_status status = state->backend->stream.query(state->handle,
                                                  &moment->point);
  if (status == TN_OK) set_past(moment);
  return status;
}

tn_status tn_moment_query(tn_moment *moment)
{
  tn_status status = tn_moment_poll(moment);
  if (status != TN_OK && status != TN_NOT_READY)
    tn_plugin_error(moment->state, status, "query");
  return status;
}

tn_status tn_moment_wait(tn_moment *moment, uint64_t timeout)
{
  if (is_past(moment)) return TN_OK;
  if (moment->mark) return tn_capture_refuse_moment(moment, "wait of the host");
  tn_device_state *state = moment->state;
  tn_status status = state->backend->stream.host_wait(
      state->handle, &moment->point, timeout);
  if (status == TN_OK) {
    set_past(moment);
    tn_shutdown_see_wait();
  } else if (status != TN_TIMEOUT)
    return tn_plugin_error(state, status, "wait");
  return status;
}
