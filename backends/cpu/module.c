#include "backends/cpu/module.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/build.h"
#include "backends/cpu/host.h"
#include "backends/cpu/image.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/queue.h"
#include "backends/cpu/settings.h"

/* With its slots, a launch must fit into a queue's command. */
#define SLOTS_MAX ((TN_CPU_COMMAND_MAX - 64) / 8)

struct tn_backend_module {
  void *library; /* NULL for built-in kernels */
  size_t count;
  tn_backend_kernel kernels[];
};

/* A parameter is a "(kind, type, name)". */
static uint32_t slots_count(const char *signature)
{
  uint32_t count = 0;
  for (; *signature; signature++) count += *signature == '(';
  return count;
}

static void kernel_make(tn_backend_kernel *kernel, const tn_cpu_kernel *code)
{
  kernel->run = code->run;
  kernel->slot_count = slots_count(code->signature);
  atomic_init(&kernel->inline_items, 0);
  kernel->name = code->name;
  kernel->signature = code->signature;
}

/* Kernels of a family; all of the image's without one. */
static bool is_wanted(const tn_cpu_kernel *code, const char *family)
{
  return !family || strcmp(code->family, family) == 0;
}

static size_t kernels_count(const tn_cpu_image *image, const char *family)
{
  size_t count = 0;
  for (const tn_cpu_kernel *const *code = image->begin; code < image->end;
       code++)
    count += is_wanted(*code, family);
  return count;
}

/* The image has kernels of the family. */
static tn_status module_make(const tn_module_desc *desc,
                             const tn_cpu_image *image, const char *family,
                             tn_backend_module **out)
{
  size_t count = kernels_count(image, family), at = 0;
  tn_backend_module *module =
    malloc(sizeof *module + count * sizeof *module->kernels);
  if (!module)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY,
                              "no memory for the %zu kernels of \"%s\"", count,
                              desc->name);
  module->library = NULL;
  module->count = count;
  for (const tn_cpu_kernel *const *code = image->begin; code < image->end;
       code++)
    if (is_wanted(*code, family)) kernel_make(&module->kernels[at++], *code);
  *out = module;
  return TN_OK;
}

/* What a library of one's own can get wrong. */
static tn_status image_check(const tn_module_desc *desc,
                             const tn_cpu_image *const *image)
{
  if (!image || !kernels_count(*image, NULL))
    return tn_cpu_host->error(TN_COMPILE_FAILED,
                              "module \"%s\" has no kernel (TN_KERNEL)",
                              desc->name);
  for (const tn_cpu_kernel *const *code = (*image)->begin;
       code < (*image)->end; code++)
    if (slots_count((*code)->signature) > SLOTS_MAX)
      return tn_cpu_host->error(TN_UNSUPPORTED,
                                "kernel \"%s\" has more than %d parameters",
                                (*code)->name, SLOTS_MAX);
  return TN_OK;
}

static tn_status module_compile(const tn_module_desc *desc,
                                tn_backend_module **module)
{
  void *library;
  tn_status status = tn_cpu_build_load(desc, &library);
  if (status) return status;
  const tn_cpu_image *const *image = dlsym(library, "tn_cpu_image_of_module");
  status = image_check(desc, image);
  if (!status) status = module_make(desc, *image, NULL, module);
  if (status)
    dlclose(library);
  else
    (*module)->library = library;
  return status;
}

/* The family as built in; a family of a newer core is compiled from the source
 * it gives when asked again. */
static tn_status module_builtin(const tn_module_desc *desc,
                                tn_backend_module **module)
{
  const tn_cpu_image *image = tn_cpu_image_get(tn_cpu_settings_get()->level);
  if (kernels_count(image, desc->name))
    return module_make(desc, image, desc->name, module);
  if (desc->data) return module_compile(desc, module);
  return tn_cpu_host->error(TN_UNSUPPORTED,
                            "cpu has no built-in kernels called \"%s\"",
                            desc->name);
}

tn_status tn_cpu_module_load(tn_backend_device *device,
                             const tn_module_desc *desc,
                             tn_backend_module **module)
{
  (void)device;
  tn_status status = tn_cpu_flags_check("module", desc->flags, 0);
  if (status) return status;
  switch (desc->kind) {
  case TN_MODULE_BUILTIN: return module_builtin(desc, module);
  case TN_MODULE_PORTABLE:
  case TN_MODULE_VENDOR: return module_compile(desc, module);
  case TN_MODULE_BINARY:
    return tn_cpu_host->error(TN_UNSUPPORTED,
                              "module \"%s\": cpu takes no binaries, only "
                              "source",
                              desc->name);
  default:
    return tn_cpu_host->error(TN_UNSUPPORTED,
                              "module \"%s\": cpu has no modules of kind %d",
                              desc->name, (int)desc->kind);
  }
}

void tn_cpu_module_unload(tn_backend_module *module)
{
  void *library = module->library;
  free(module);
  if (library) dlclose(library);
}

tn_status tn_cpu_kernel_get(tn_backend_module *module, const char *name,
                            tn_backend_kernel **kernel)
{
  for (size_t i = 0; i < module->count; i++) {
    if (strcmp(module->kernels[i].name, name) != 0) continue;
    *kernel = &module->kernels[i];
    return TN_OK;
  }
  return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                            "no kernel \"%s\": the module has %zu, the first "
                            "is \"%s\"",
                            name, module->count, module->kernels[0].name);
}

tn_status tn_cpu_kernel_info(tn_backend_kernel *kernel, tn_kernel_info *info)
{
  tn_kernel_info facts = {
    .struct_size = info->struct_size,
    .signature = kernel->signature,
    .max_group_size = TN_CPU_GROUP_MAX,
    .preferred_group_size = 1,
  };
  size_t size = info->struct_size;
  memcpy(info, &facts, size < sizeof facts ? size : sizeof facts);
  return TN_OK;
}
