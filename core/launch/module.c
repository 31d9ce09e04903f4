/* The public calls on modules and kernels. */
#include "config.h"

#include "core/launch/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/exec/tag.h"
#include "core/launch/builtin.h"
#include "core/launch/defines.h"

static tn_status acquire(tn_device device, tn_device_state **state)
{
  tn_status status = tn_device_acquire(device, state);
  return status == TN_OK ? tn_enter(*state) : status;
}

/* The cpu in a backend's place knows no language of that backend. */
static tn_status check_kind(const tn_device_state *state, int32_t kind)
{
  if (kind == TN_MODULE_PORTABLE || state->backend->has_launch) return TN_OK;
  return tn_refuse_absent(state->backend, kind == TN_MODULE_VENDOR
                              ? "launch table: it takes portable kernels, "
                                "not \"native\" ones"
                              : "launch table: it takes the source of "
                                "portable kernels, not binaries");
}

static tn_status refuse_language(const char *language)
{
  return tn_error(TN_INVALID_ARGUMENT, "kernel language \"%s\": it is "
                  "\"portable\" or \"native\"", language);
}

static tn_status describe(const char *source, const tn_module_options *options,
                          tn_module_desc *desc)
{
  const char *language = options->language ? options->language : "portable";
  bool is_native = strcmp(language, "native") == 0;
  if (!is_native && strcmp(language, "portable") != 0)
    return refuse_language(language);
  if (!source == !options->binary)
    return tn_error(TN_INVALID_ARGUMENT, "a module needs source or binary, "
                    "%s", source ? "not both" : "and has neither");
  *desc = (tn_module_desc){
    .struct_size = sizeof *desc,
    .kind = is_native ? TN_MODULE_VENDOR : TN_MODULE_PORTABLE,
    .name = options->name ? options->name : "kernel",
    .data = source,
    .size = source ? strlen(source) : 0,
  };
  if (!options->binary) return TN_OK;
  desc->kind = TN_MODULE_BINARY;
  desc->data = options->binary;
  desc->size = options->binary_size;
  return TN_OK;
}

tn_module *tn_module_load_with(tn_device device, const char *source,
                               tn_module_options options)
{
  tn_module_desc desc;
  tn_defines defines;
  tn_device_state *state;
  tn_module *module = NULL;
  if (describe(source, &options, &desc) != TN_OK) return NULL;
  if (tn_defines_parse(options.defines, &defines) != TN_OK) return NULL;
  desc.defines = defines.items;
  desc.define_count = defines.count;
  if (acquire(device, &state) == TN_OK) {
    tn_status status = check_kind(state, desc.kind);
    if (status == TN_OK) module = tn_module_make(state, &desc, &status);
    tn_leave();
  }
  tn_defines_free(&defines);
  return module;
}

tn_module *tn_module_builtin(tn_device device, const char *family)
{
  tn_device_state *state;
  if (tn_builtin_check(family) != TN_OK) return NULL;
  if (acquire(device, &state) != TN_OK) return NULL;
  tn_module *module = tn_module_find_family(state, family);
  if (!module) module = tn_builtin_load(state, family);
  tn_leave();
  return module;
}

tn_kernel *tn_kernel_make(tn_device_state *state, const char *name,
                          const char *text)
{
  size_t name_size = strlen(name) + 1, text_size = strlen(text) + 1;
  tn_kernel *kernel = calloc(1, sizeof *kernel + name_size + text_size);
  char quoted[256];
  if (!kernel) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for kernel \"%s\"", name);
    return NULL;
  }
  char *texts = (char *)(kernel + 1);
  memcpy(texts, name, name_size);
  memcpy(texts + name_size, text, text_size);
  snprintf(quoted, sizeof quoted, "kernel \"%s\"", name);
  kernel->state = state;
  kernel->tag = tn_tag_of(quoted);
  tn_refcount_init(&kernel->refs);
  kernel->name = texts;
  kernel->text = texts + name_size;
  return kernel;
}

static tn_kernel *make(tn_module *module, const char *name,
                       tn_backend_kernel *handle)
{
  tn_device_state *state = module->state;
  const tn_backend *backend = module->runner->backend;
  tn_kernel_info info = { .struct_size = sizeof info };
  tn_status status = backend->launch.kernel_info(handle, &info);
  if (status != TN_OK) {
    tn_plugin_error(state, status, "kernel \"%s\"", name);
    return NULL;
  }
  tn_kernel *kernel = tn_kernel_make(state, name,
                                     info.signature ? info.signature : "");
  if (!kernel) return NULL;
  if (tn_signature_parse(kernel->text, &kernel->signature) != TN_OK) {
    free(kernel);
    return NULL;
  }
  if (module->runner == state) kernel->launch = backend->launch.launch;
  kernel->handle = handle;
  kernel->module = tn_module_retain(module);
  return kernel;
}

static tn_kernel *get(tn_module *module, const char *name)
{
  tn_device_state *state = module->state;
  tn_backend_kernel *handle = NULL;
  tn_status status = module->runner->backend->launch.kernel_get(
      module->handle, name, &handle);
  if (status == TN_OK) return make(module, name, handle);
  tn_plugin_error(state, status, "kernel \"%s\" of module \"%s\"", name,
                  module->name);
  return NULL;
}

tn_kernel *tn_kernel_get(tn_module *module, const char *name)
{
  if (!module || !name) {
    tn_error(TN_INVALID_ARGUMENT, "%s is NULL",
             module ? "the kernel's name" : "module");
    return NULL;
  }
  if (tn_enter(module->state) != TN_OK) return NULL;
  tn_kernel *kernel = get(module, name);
  if (kernel) tn_shutdown_arm_later();
  tn_leave();
  return kernel;
}

tn_kernel *tn_kernel_retain(tn_kernel *kernel)
{
  if (kernel) tn_refcount_retain(&kernel->refs);
  return kernel;
}

void tn_kernel_release(tn_kernel *kernel)
{
  if (!kernel || !tn_refcount_release(&kernel->refs)) return;
  tn_module_release(kernel->module);
  tn_native_release(kernel->native);
  free(kernel);
}

const char *tn_kernel_name(const tn_kernel *kernel)
{
  return kernel ? kernel->name : "";
}

tn_device tn_kernel_device(const tn_kernel *kernel)
{
  return kernel ? kernel->state->device : (tn_device){ -1, -1 };
}

const char *tn_kernel_signature(const tn_kernel *kernel)
{
  return kernel ? kernel->text : "";
}
