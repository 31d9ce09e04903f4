#include "config.h"

#include "core/exec/moment.h"

#include <stdlib.h>

#include "core/base/shutdown.h"

tn_moment *tn_moment_new(tn_device_state *state, const tn_point *point)
{
  tn_moment *moment = malloc(sizeof *moment);
  if (!moment) {
    state->backend->stream.point_release(state->handle, point);
    return NULL;
  }
  tn_refcount_init(&moment->refs);
  atomic_init(&moment->is_complete, false);
  moment->state = state;
  moment->point = *point;
  return moment;
}

void tn_moment_release(tn_moment *moment)
{
  if (!moment || !tn_refcount_release(&moment->refs)) return;
  tn_device_state *state = moment->state;
  if (!tn_is_shut_down())
    state->backend->stream.point_release(state->handle, &moment->point);
  free(moment);
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

tn_status tn_moment_query(tn_moment *moment)
{
  if (is_past(moment)) return TN_OK;
  tn_device_state *state = moment->state;
  tn_status status = state->backend->stream.query(state->handle,
                                                  &moment->point);
  if (status == TN_OK) set_past(moment);
  else if (status != TN_NOT_READY)
    return tn_plugin_error(state, status, "query");
  return status;
}

tn_status tn_moment_wait(tn_moment *moment, uint64_t timeout)
{
  if (is_past(moment)) return TN_OK;
  tn_device_state *state = moment->state;
  tn_status status = state->backend->stream.host_wait(
      state->handle, &moment->point, timeout);
  if (status == TN_OK) set_past(moment);
  else if (status != TN_TIMEOUT)
    return tn_plugin_error(state, status, "wait");
  return status;
}
