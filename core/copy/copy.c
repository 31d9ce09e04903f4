/* The public call: what is asked for, checked. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/copy/copy_job.h"
#include "core/memory/allocator.h"

static bool is_given(tn_device device)
{
  return device.backend != 0 || device.index != 0;
}

/* A device not given is host memory without a stream. */
static tn_status make_side(const void *address, tn_device device,
                           tn_copy_side *side)
{
  *side = (tn_copy_side){ .address = (tn_address)(uintptr_t)address };
  if (!is_given(device)) return TN_OK;
  tn_status status = tn_device_acquire(device, &side->state);
  if (status != TN_OK) return status;
  side->stream = tn_stream_current_of(side->state);
  return side->stream ? TN_OK : tn_last_status();
}

static tn_status check(const tn_copy_side *side, const char *which,
                       uint64_t bytes)
{
  if (!side->address)
    return tn_error(TN_INVALID_ARGUMENT, "copy of %" PRIu64 " bytes: %s is "
                    "NULL", bytes, which);
  if (bytes > TN_LARGEST_REQUEST)
    return tn_error(TN_SIZE_OVERFLOW, "copy of %" PRIu64 " bytes: memory has "
                    "at most %" PRIu64, bytes, TN_LARGEST_REQUEST);
  if (side->address + bytes < side->address)
    return tn_error(TN_SIZE_OVERFLOW, "copy of %" PRIu64 " bytes: %s at 0x%"
                    PRIx64 " would end behind the last address", bytes, which,
                    side->address);
  return TN_OK;
}

static tn_status run_inside(const tn_copy_job *job)
{
  tn_device_state *dst = job->dst.state, *src = job->src.state;
  if (!dst && !src) return tn_copy_run(job);
  tn_status status = tn_enter(dst ? dst : src);
  if (status != TN_OK) return status;
  if (dst && src && dst != src) {
    status = tn_enter(src);
    if (status == TN_OK) {
      status = tn_copy_run(job);
      tn_leave();
    }
  } else {
    status = tn_copy_run(job);
  }
  tn_leave();
  return status;
}

tn_status tn_copy(void *dst, tn_device dst_device, const void *src,
                  tn_device src_device, size_t bytes, bool non_blocking)
{
  tn_copy_job job = {
    .shape = { .row_bytes = bytes, .rows = 1, .depth = 1 },
    .non_blocking = non_blocking,
  };
  tn_status status = make_side(dst, dst_device, &job.dst);
  if (status == TN_OK) status = make_side(src, src_device, &job.src);
  if (status != TN_OK) return status;
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  if (bytes == 0) return TN_OK;
  status = check(&job.dst, "the destination", bytes);
  if (status == TN_OK) status = check(&job.src, "the source", bytes);
  return status == TN_OK ? run_inside(&job) : status;
}
