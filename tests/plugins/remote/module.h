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
  unsigned graphs;   /* nodes of graphs; the same */
};

/* Where kernels are: those of a family, or all where there is none. */
typedef struct remote_image {
  const tn_cpu_image *kernels;
  const char *family;
  void *library; /* of a module compiled at run time: closed after use */
} remote_image;

struct tn_backend_module {
  tn_backend_device *device;
  void *library; /* as above */
  tn_backend_kernel *kernels;
  size_t count;
};

/* The image of a module: built into the plugin, or compiled by the system's
 * compiler. Sets out->library on failure too, if it got that far. */
tn_status remote_image_find(const tn_module_desc *desc, remote_image *out);

#endif
