/* Where a module's kernels come from: the plugin's own images of the built-in
 * families. */
#include "tests/plugins/remote/module.h"

#include <string.h>

TN_CPU_IMAGE(builtin_image, tn_kernels_remote);

/* REMOTE_FAMILIES: the families built in, each between spaces. Those with
 * f64 are not among them. */
static bool is_family(const char *name)
{
  size_t length = strlen(name);
  for (const char *at = REMOTE_FAMILIES; (at = strstr(at, name)); at++)
    if (at[-1] == ' ' && at[length] == ' ') return true;
  return false;
}

tn_status remote_image_find(const tn_module_desc *desc,
                            const tn_cpu_image **image, void **library)
{
  (void)library;
  if (desc->kind == TN_MODULE_BUILTIN && is_family(desc->name)) {
    *image = &builtin_image;
    return TN_OK;
  }
  return remote_host->error(TN_UNSUPPORTED, "remote has no modules of kind %d",
                            desc->kind);
}
