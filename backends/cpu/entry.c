/* The tables of the cpu backend and its one exported function. */
#include <stddef.h>

#include "backends/cpu/alloc.h"
#include "backends/cpu/bulk.h"
#include "backends/cpu/chaos.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/device.h"
#include "backends/cpu/event.h"
#include "backends/cpu/graph.h"
#include "backends/cpu/host.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/module.h"
#include "backends/cpu/park.h"
#include "backends/cpu/settings.h"
#include "backends/cpu/stream.h"
#include "backends/cpu/workers.h"

const tn_host_api *tn_cpu_host;

static const tn_backend_device_table device_table = {
  .struct_size = sizeof(tn_backend_device_table),
  .count = tn_cpu_device_count,
  .info = tn_cpu_device_info,
  .open = tn_cpu_device_open,
  .close = tn_cpu_device_close,
  .shutdown = tn_cpu_device_shutdown,
  .after_fork = tn_cpu_device_after_fork,
};

static const tn_backend_alloc_table alloc_table = {
  .struct_size = sizeof(tn_backend_alloc_table),
  .alloc = tn_cpu_alloc,
  .free = tn_cpu_free,
  .mem_info = tn_cpu_mem_info,
};

static const tn_backend_copy_table copy_table = {
  .struct_size = sizeof(tn_backend_copy_table),
  .copy = tn_cpu_copy_queue,
  .fill = tn_cpu_fill_queue,
  .peer_query = tn_cpu_peer_query,
  .peer_enable = tn_cpu_peer_enable,
  .peer_disable = tn_cpu_peer_disable,
};

static const tn_backend_launch_table launch_table = {
  .struct_size = sizeof(tn_backend_launch_table),
  .module_load = tn_cpu_module_load,
  .module_unload = tn_cpu_module_unload,
  .kernel_get = tn_cpu_kernel_get,
  .kernel_info = tn_cpu_kernel_info,
  .launch = tn_cpu_launch,
};

static const tn_backend_stream_table stream_table = {
  .struct_size = sizeof(tn_backend_stream_table),
  .create = tn_cpu_stream_create,
  .destroy = tn_cpu_stream_destroy,
  .record = tn_cpu_event_record,
  .wait = tn_cpu_event_wait,
  .query = tn_cpu_event_query,
  .host_wait = tn_cpu_event_host_wait,
  .point_release = tn_cpu_event_release,
  .elapsed = tn_cpu_event_elapsed,
  .host_function = tn_cpu_stream_host_function,
  .take_error = tn_cpu_stream_take_error,
};

static const tn_backend_graph_table graph_table = {
  .struct_size = sizeof(tn_backend_graph_table),
  .capture_begin = tn_cpu_graph_capture_begin,
  .capture_node = tn_cpu_graph_capture_node,
  .capture_end = tn_cpu_graph_capture_end,
  .launch = tn_cpu_graph_launch,
  .update = tn_cpu_graph_update,
  .destroy = tn_cpu_graph_destroy,
};

static const tn_backend_api api = {
  .struct_size = sizeof(tn_backend_api),
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "cpu",
  .version = TN_CPU_VERSION,
  .rank = 0,
  .device = &device_table,
  .alloc = &alloc_table,
  .copy = &copy_table,
  .launch = &launch_table,
  .stream = &stream_table,
  .graph = &graph_table,
};

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  if (next) {
    host->error(TN_UNSUPPORTED, "cpu is no layer: it wraps no other backend");
    return NULL;
  }
  tn_cpu_host = host;
  tn_cpu_settings_read();
  tn_cpu_spin_allow(tn_cpu_settings_get()->processors > 1);
  tn_cpu_fence_prepare();
  tn_cpu_bulk_setup(tn_cpu_machine_cache());
  tn_cpu_workers_setup(tn_cpu_settings_get()->thread_count);
  int seed = tn_cpu_settings_get()->chaos_seed;
  if (!seed) return &api;
  tn_cpu_chaos_setup(seed);
  return tn_cpu_chaos_wrap(&api);
}
