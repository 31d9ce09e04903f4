/* The plugin's one exported function. */
#include "config.h"

#include "backends/cuda/alloc.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/graph.h"
#include "backends/cuda/module.h"
#include "backends/cuda/stream.h"

const tn_host_api *tn_host;

#define RANK 100

static const tn_backend_api api = {
  .struct_size = sizeof api,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "cuda",
  .version = PACKAGE_VERSION,
  .rank = RANK,
  .device = &tn_cuda_device_table,
  .alloc = &tn_cuda_alloc_table,
  .copy = &tn_cuda_copy_table,
  .launch = &tn_cuda_launch_table,
  .stream = &tn_cuda_stream_table,
  .graph = &tn_cuda_graph_table,
};

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  if (!TN_HAS(host, is_forked_child)) return NULL; /* an older core's */
  if (next) {
    host->error(TN_INVALID_ARGUMENT,
                "cuda is a backend of its own and wraps no other");
    return NULL;
  }
  tn_host = host;
  return &api;
}
