/* Modules of the remote backend, and where their images come from. */
#ifndef TN_TESTS_PLUGINS_REMOTE_MODULE_H
#define TN_TESTS_PLUGINS_REMOTE_MODULE_H

#include <tenon/kernel_lang.h>

#include "tests/plugins/remote/remote.h"

struct tn_backend_kernel {
  tn_backend_module *module;
  const tn_cpu_kernel *cpu;
  unsigned slots;    /* parameters */
  uint64_t pointers; /* bit i: parameter i is one */
  unsigned pending;  /* launches not yet run; under remote_lock */
};

struct tn_backend_module {
  tn_backend_device *device;
  void *library; /* of a module compiled at run time, or NULL */
  tn_backend_kernel *kernels;
  size_t count;
};

/* The kernels of a module: built into the plugin, or compiled for the host by
 * the system's compiler; then *library is to be closed after use. */
tn_status remote_image_find(const tn_module_desc *desc,
                            const tn_cpu_image **image, void **library);

#endif
