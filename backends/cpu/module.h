/* Modules and their kernels. */
#ifndef TN_BACKENDS_CPU_MODULE_H
#define TN_BACKENDS_CPU_MODULE_H

#include <stdatomic.h>

#include "tenon/backend.h"
#include "tenon/kernel_lang.h"

struct tn_backend_kernel {
  void (*run)(tn_range range, const uint64_t *slots);
  uint32_t slot_count;
  /* Launches of at most as many items are not shared out: an estimate that
   * every timed launch renews. */
  _Atomic int64_t inline_items;
  const char *name, *signature;
};

tn_status tn_cpu_module_load(tn_backend_device *device,
                             const tn_module_desc *desc,
                             tn_backend_module **module);
void tn_cpu_module_unload(tn_backend_module *module);
tn_status tn_cpu_kernel_get(tn_backend_module *module, const char *name,
                            tn_backend_kernel **kernel);
tn_status tn_cpu_kernel_info(tn_backend_kernel *kernel, tn_kernel_info *info);

#endif
