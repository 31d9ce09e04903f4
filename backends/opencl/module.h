/* Modules and their kernels. */
#ifndef TN_OPENCL_MODULE_H
#define TN_OPENCL_MODULE_H

#include <pthread.h>

#include "backends/opencl/device.h"

struct tn_backend_kernel {
  tn_backend_module *module;
  const char *name, *signature; /* in the module's text */
  pthread_mutex_t lock; /* of what follows: setting arguments and queueing
                         * the launch are two calls on one object */
  cl_kernel handle;     /* NULL until the kernel is first asked for */
  uint32_t parameter_count;
  uint8_t *sizes;       /* of values; 0: a pointer */
  uint64_t *slots;      /* as last set */
  bool has_slots;
  uint64_t generation;  /* of the ranges, when they were set */
  uint32_t group_size, max_group_size;
};

struct tn_backend_module {
  tn_backend_device *device;
  cl_program program;
  char *text; /* names and signatures */
  tn_backend_kernel *kernels;
  size_t kernel_count;
};

void *tn_opencl_module_handle(const void *module);
void *tn_opencl_kernel_handle(const void *kernel);

/* Queues a launch; a launch table entry. */
tn_status tn_opencl_launch(tn_backend_stream *stream,
                           tn_backend_kernel *kernel,
                           const tn_backend_launch_desc *desc,
                           const uint64_t *slots);

extern const tn_backend_launch_table tn_opencl_launch_table;

#endif
