/* Who runs a device's kernels. */
#include "config.h"

#include <stdatomic.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/launch/module.h"

static tn_status refuse(const tn_backend *backend, tn_status status)
{
  tn_error_state reason;
  tn_error_save(&reason);
  return tn_error(status, "backend \"%s\" has no launch table, and the cpu "
                  "cannot run its kernels instead: %s", backend->name,
                  reason.text);
}

static tn_status acquire_cpu(tn_device_state **cpu)
{
  tn_device device;
  tn_status status = tn_device_parse("cpu:0", &device);
  if (status == TN_OK) status = tn_device_acquire(device, cpu);
  if (status != TN_OK) return status;
  if (!(*cpu)->backend->has_launch)
    return tn_refuse_absent((*cpu)->backend, "launch table");
  if ((*cpu)->info.capabilities & TN_CAP_HOST_ACCESS) return TN_OK;
  return tn_error(TN_UNSUPPORTED, "cpu:0 does not work on host memory");
}

/* Once for each backend. */
static void tell(const tn_backend *backend)
{
  static _Atomic uint64_t told; /* bit i: of the backend with the id i + 1 */
  uint64_t bit = UINT64_C(1) << ((backend->id - 1) & 63);
  if (atomic_fetch_or(&told, bit) & bit) return;
  tn_log(TN_LOG_WARNING, "%s: the backend has no launch table: its kernels "
         "run on the cpu, over mirrored blocks", backend->name);
}

tn_status tn_runner_of(tn_device_state *state, tn_device_state **runner)
{
  *runner = state;
  if (state->backend->has_launch) return TN_OK;
  tn_status status = acquire_cpu(runner);
  if (status != TN_OK) return refuse(state->backend, status);
  tell(state->backend);
  return TN_OK;
}
