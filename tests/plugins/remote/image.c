/* Where a module's kernels come from: the cpu backend's image of the built-in
 * families, and its way from source to a library, at the level that every
 * machine has. Their host and settings are ours here. */
#include <dlfcn.h>
#include <string.h>

#include "backends/cpu/build.h"
#include "backends/cpu/host.h"
#include "backends/cpu/image.h"
#include "backends/cpu/settings.h"
#include "tests/plugins/remote/module.h"

const tn_host_api *tn_cpu_host; /* set by the entry */

const tn_cpu_settings *tn_cpu_settings_get(void)
{
  static const tn_cpu_settings settings = { .level = TN_CPU_BASELINE };
  return &settings;
}

static bool has_family(const tn_cpu_image *image, const char *family)
{
  for (const tn_cpu_kernel *const *code = image->begin; code < image->end;
       code++)
    if (!strcmp((*code)->family, family)) return true;
  return false;
}

static tn_status compile(const tn_module_desc *desc, remote_image *out)
{
  tn_status status = tn_cpu_build_load(desc, &out->library);
  if (status) return status;
  const tn_cpu_image *const *found =
      dlsym(out->library, "tn_cpu_image_of_module");
  out->kernels = found ? *found : NULL;
  if (found && (*found)->begin != (*found)->end) return TN_OK;
  return remote_host->error(TN_COMPILE_FAILED,
                            "module \"%s\" has no kernel (TN_KERNEL)",
                            desc->name);
}

static tn_status find_builtin(const tn_module_desc *desc, remote_image *out)
{
  out->kernels = tn_cpu_image_get(TN_CPU_BASELINE);
  out->family = desc->name;
  if (has_family(out->kernels, desc->name)) return TN_OK;
  out->family = NULL;
  if (desc->data) return compile(desc, out);
  return remote_host->error(TN_UNSUPPORTED,
                            "remote has no built-in kernels called \"%s\"",
                            desc->name);
}

tn_status remote_image_find(const tn_module_desc *desc, remote_image *out)
{
  *out = (remote_image){ NULL, NULL, NULL };
  if (desc->kind == TN_MODULE_BUILTIN) return find_builtin(desc, out);
  if (desc->kind == TN_MODULE_PORTABLE) return compile(desc, out);
  return remote_host->error(TN_UNSUPPORTED,
                            "module \"%s\": remote takes portable source "
                            "only",
                            desc->name);
}
