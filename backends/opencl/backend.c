/* The plugin's one exported function. */
#include "config.h"

#include "backends/opencl/alloc.h"
#include "backends/opencl/copy.h"
#include "backends/opencl/device.h"
#include "backends/opencl/error.h"
#include "backends/opencl/module.h"
#include "backends/opencl/stream.h"

const tn_host_api *tn_host;

/* Between cpu and cuda: "auto" takes a graphics processor's own backend
 * first. Devices that are the host's cores say so, and are not taken. */
#define RANK 50

static const tn_backend_api api = {
  .struct_size = sizeof api,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "opencl",
  .version = PACKAGE_VERSION,
  .rank = RANK,
  .device = &tn_opencl_device_table,
  .alloc = &tn_opencl_alloc_table,
  .copy = &tn_opencl_copy_table,
  .launch = &tn_opencl_launch_table,
  .stream = &tn_opencl_stream_table,
};

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  if (!TN_HAS(host, is_forked_child)) return NULL; /* an older core's */
  if (next) {
    host->error(TN_INVALID_ARGUMENT,
                "opencl is a backend of its own and wraps no other");
    return NULL;
  }
  tn_host = host;
  return &api;
}
