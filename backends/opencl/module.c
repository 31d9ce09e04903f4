#include "config.h"

#include "backends/opencl/module.h"

#include <stdlib.h>
#include <string.h>

#include "backends/opencl/error.h"
#include "backends/opencl/program.h"
#include "backends/opencl/signature.h"
#include "backends/opencl/source.h"

/* Threads of a group: as many as the built-in kernels have lanes. One size for
 * every launch of a kernel, since PoCL compiles it anew for each; flat ones
 * ran no faster with 256. */
#define GROUP_SIZE 64

/* Cuts the program's signatures into kernels. */
static bool list_kernels(tn_backend_module *module)
{
  size_t count = 0;
  for (const char *at = module->text; *at; at++) count += *at == '\n';
  module->kernels = calloc(count + 1, sizeof *module->kernels);
  if (!module->kernels) return false;
  module->kernel_count = count;
  char *at = module->text;
  for (size_t i = 0; i < count; i++) {
    tn_backend_kernel *kernel = module->kernels + i;
    char *tab = strchr(at, '\t'), *end = strchr(at, '\n');
    if (!tab || tab > end) tab = end;
    kernel->module = module;
    kernel->name = at;
    kernel->signature = tab < end ? tab + 1 : end;
    *tab = *end = '\0';
    pthread_mutex_init(&kernel->lock, NULL);
    at = end + 1;
  }
  return true;
}

static tn_status check_desc(const tn_module_desc *desc)
{
  if (desc->flags)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "module flags 0x%x: none are known", desc->flags);
  if (desc->kind < TN_MODULE_BUILTIN || desc->kind > TN_MODULE_BINARY)
    return tn_host->error(TN_UNSUPPORTED,
                          "opencl has no modules of kind %d", desc->kind);
  if (desc->kind != TN_MODULE_BUILTIN && !desc->data)
    return tn_host->error(TN_INVALID_ARGUMENT, "module \"%s\" has no text",
                          desc->name);
  if (desc->size > SIZE_MAX / 2)
    return tn_host->error(TN_SIZE_OVERFLOW, "module \"%s\" of %llu bytes",
                          desc->name, (unsigned long long)desc->size);
  if (desc->kind == TN_MODULE_BINARY && desc->define_count)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "module \"%s\" is a binary and takes no "
                          "definitions", desc->name);
  return TN_OK;
}

static tn_status load_program(tn_backend_device *device,
                              const tn_module_desc *desc,
                              tn_opencl_program *program)
{
  if (desc->kind == TN_MODULE_BINARY)
    return tn_opencl_program_take(device, desc->name, desc->data,
                                  (size_t)desc->size, program);
  size_t size = 0;
  char *source = NULL;
  tn_status status = tn_opencl_source(desc, &source, &size);
  if (status) return status;
  status = tn_opencl_program_compile(device, desc->name, source, size,
                                     program);
  free(source);
  return status;
}

static tn_status load_module(tn_backend_device *device,
                             const tn_module_desc *desc,
                             tn_backend_module **module)
{
  tn_status status = check_desc(desc);
  if (status) return status;
  tn_opencl_program program;
  status = load_program(device, desc, &program);
  if (status) return status;
  tn_backend_module *loaded = calloc(1, sizeof *loaded);
  if (loaded) {
    loaded->device = device;
    loaded->program = program.handle;
    loaded->text = program.signatures;
    if (list_kernels(loaded)) {
      *module = loaded;
      return TN_OK;
    }
  }
  free(loaded);
  free(program.signatures);
  cl_.ReleaseProgram(program.handle);
  return tn_host->error(TN_OUT_OF_MEMORY, "no host memory for module \"%s\"",
                        desc->name);
}

static void unload_module(tn_backend_module *module)
{
  for (size_t i = 0; i < module->kernel_count; i++) {
    tn_backend_kernel *kernel = module->kernels + i;
    if (kernel->handle) cl_.ReleaseKernel(kernel->handle);
    pthread_mutex_destroy(&kernel->lock);
    free(kernel->sizes);
    free(kernel->slots);
  }
  cl_.ReleaseProgram(module->program);
  free(module->kernels);
  free(module->text);
  free(module);
}

/* The threads of a group: what the source demands, or ours as far as the
 * kernel can. */
static void choose_group(tn_backend_kernel *kernel)
{
  const tn_backend_device *device = kernel->module->device;
  size_t demanded[3] = { 0 }, most = 0;
  cl_.GetKernelWorkGroupInfo(kernel->handle, device->id,
                             CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                             sizeof demanded, demanded, NULL);
  cl_.GetKernelWorkGroupInfo(kernel->handle, device->id,
                             CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                             NULL);
  if (!most) most = device->info.max_group_size;
  kernel->max_group_size = (uint32_t)most;
  uint32_t wanted = GROUP_SIZE;
  if (demanded[0] && demanded[1] <= 1 && demanded[2] <= 1)
    wanted = (uint32_t)demanded[0];
  kernel->group_size = wanted < most ? wanted : (uint32_t)most;
}

/* With the kernel's lock held. */
static cl_int make_kernel(tn_backend_kernel *kernel)
{
  if (kernel->handle) return CL_SUCCESS;
  uint32_t count = tn_opencl_signature_count(kernel->signature);
  if (!kernel->sizes)
    kernel->sizes = calloc(count + 1, sizeof *kernel->sizes);
  if (!kernel->slots)
    kernel->slots = calloc(count + 1, sizeof *kernel->slots);
  if (!kernel->sizes || !kernel->slots) return CL_OUT_OF_HOST_MEMORY;
  tn_opencl_signature_sizes(kernel->signature, kernel->sizes);
  kernel->parameter_count = count;
  cl_int code;
  cl_kernel handle = cl_.CreateKernel(kernel->module->program, kernel->name,
                                      &code);
  if (code) return code;
  kernel->handle = handle;
  choose_group(kernel);
  return CL_SUCCESS;
}

static tn_status get_kernel(tn_backend_module *module, const char *name,
                            tn_backend_kernel **kernel)
{
  tn_backend_kernel *found = NULL;
  for (size_t i = 0; i < module->kernel_count && !found; i++)
    if (!strcmp(module->kernels[i].name, name)) found = module->kernels + i;
  if (!found)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "the module has no kernel \"%s\" (it has %zu: "
                          "\"%s\" and so on)", name, module->kernel_count,
                          module->kernel_count ? module->kernels->name : "");
  if (found->signature[0] == '!')
    return tn_host->error(TN_UNSUPPORTED, "kernel \"%s\": its %s", name,
                          found->signature + 1);
  pthread_mutex_lock(&found->lock);
  cl_int code = make_kernel(found);
  pthread_mutex_unlock(&found->lock);
  if (code) return tn_opencl_check(code, "clCreateKernel", module->device);
  *kernel = found;
  return TN_OK;
}

static uint64_t kernel_bytes(const tn_backend_kernel *kernel,
                             cl_kernel_work_group_info what)
{
  cl_ulong bytes = 0;
  cl_.GetKernelWorkGroupInfo(kernel->handle, kernel->module->device->id, what,
                             sizeof bytes, &bytes, NULL);
  return bytes;
}

static tn_status get_kernel_info(tn_backend_kernel *kernel,
                                 tn_kernel_info *info)
{
  tn_kernel_info facts = {
    .struct_size = info->struct_size,
    .signature = kernel->signature,
    .shared_bytes = kernel_bytes(kernel, CL_KERNEL_LOCAL_MEM_SIZE),
    .private_bytes = kernel_bytes(kernel, CL_KERNEL_PRIVATE_MEM_SIZE),
    .max_group_size = kernel->max_group_size,
    .preferred_group_size = kernel->group_size,
  };
  memcpy(info, &facts, info->struct_size < sizeof facts ? info->struct_size
                                                        : sizeof facts);
  return TN_OK;
}

void *tn_opencl_module_handle(const void *module)
{
  return ((const tn_backend_module *)module)->program;
}

void *tn_opencl_kernel_handle(const void *kernel)
{
  return ((const tn_backend_kernel *)kernel)->handle;
}

const tn_backend_launch_table tn_opencl_launch_table = {
  .struct_size = sizeof tn_opencl_launch_table,
  .module_load = load_module,
  .module_unload = unload_module,
  .kernel_get = get_kernel,
  .kernel_info = get_kernel_info,
  .launch = tn_opencl_launch,
};
