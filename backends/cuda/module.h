/* Modules and their kernels. */
#ifndef TN_CUDA_MODULE_H
#define TN_CUDA_MODULE_H

#include <pthread.h>

#include "backends/cuda/device.h"

#define TN_CUDA_PARAMETERS_MAX 32 /* of a kernel of the language */

struct tn_backend_kernel {
  struct tn_backend_kernel *next; /* of the module */
  tn_backend_module *module;
  const char *name; /* kept for the whole process */
  char *signature;
  CUfunction function;
  uint32_t parameter_count;
  uint32_t group_size, max_group_size;
  uint32_t shared_bytes, private_bytes; /* static */
  uint32_t dynamic_bytes; /* shared memory it may ask for; atomic */
};

struct tn_backend_module {
  tn_backend_device *device;
  CUmodule handle;
  bool is_portable; /* its kernels are right for any number of groups */
  pthread_mutex_t lock; /* of the list, and held while a kernel is made */
  tn_backend_kernel *kernels;
};

void *tn_cuda_module_handle(const void *module);
void *tn_cuda_kernel_handle(const void *kernel);

/* Loads an image (PTX, cubin or fatbin) with the context current. What the
 * driver has against it goes to the log at `level`, and its first line into the
 * error, which is then TN_COMPILE_FAILED. */
tn_status tn_cuda_image_load(tn_backend_device *device, const char *name,
                             const void *image, tn_log_level level,
                             CUmodule *module);

/* Queues a launch; a launch table entry. */
tn_status tn_cuda_launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                         const tn_backend_launch_desc *desc,
                         const uint64_t *slots);

/* The same launch as the driver describes one in a graph. `parameters` has room
 * for TN_CUDA_PARAMETERS_MAX; both it and `slots` are part of what is
 * described. */
tn_status tn_cuda_launch_describe(tn_backend_kernel *kernel,
                                  const tn_backend_launch_desc *desc,
                                  const uint64_t *slots, void **parameters,
                                  CUDA_KERNEL_NODE_PARAMS *description);

extern const tn_backend_launch_table tn_cuda_launch_table;

#endif
