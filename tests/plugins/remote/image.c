/* Where a module's kernels come from. */
#include "tests/plugins/remote/module.h"

tn_status remote_image_find(const tn_module_desc *desc,
                            const tn_cpu_image **image, void **library)
{
  (void)image;
  (void)library;
  return remote_host->error(TN_UNSUPPORTED, "remote has no modules of kind %d",
                            desc->kind);
}
