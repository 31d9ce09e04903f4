#include "config.h"

#include "backends/cuda/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/images.h"

#define SIGNATURE_MAX 65536

static tn_status refuse_source(const tn_module_desc *desc)
{
  if (desc->kind == TN_MODULE_VENDOR)
    return tn_host->error(TN_UNSUPPORTED,
                          "module \"%s\" is CUDA C++ source: this release "
                          "has no compiler for it (NVRTC); PTX and cubins "
                          "are taken as binaries", desc->name);
  return tn_host->error(TN_UNSUPPORTED,
                        "module \"%s\" is kernel source: this release has no "
                        "compiler for it on cuda (NVRTC); the built-in "
                        "kernels (%s) are compiled already", desc->name,
                        tn_cuda_image_names);
}

static tn_status check_desc(const tn_module_desc *desc)
{
  if (desc->flags)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "module flags 0x%x: none are known", desc->flags);
  if (desc->kind < TN_MODULE_BUILTIN || desc->kind > TN_MODULE_BINARY)
    return tn_host->error(TN_UNSUPPORTED, "cuda has no modules of kind %d",
                          desc->kind);
  if (desc->kind == TN_MODULE_PORTABLE || desc->kind == TN_MODULE_VENDOR)
    return refuse_source(desc);
  if (desc->define_count)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "module \"%s\" is compiled already and takes no "
                          "definitions", desc->name);
  if (desc->kind == TN_MODULE_BUILTIN) return TN_OK;
  if (!desc->data || desc->size < 4)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "module \"%s\": an image of %llu bytes",
                          desc->name, (unsigned long long)desc->size);
  if (desc->size > SIZE_MAX / 2)
    return tn_host->error(TN_SIZE_OVERFLOW, "module \"%s\" of %llu bytes",
                          desc->name, (unsigned long long)desc->size);
  return TN_OK;
}

/* Machine code where it was built in and fits the device, else PTX. */
static tn_status load_builtin(tn_backend_device *device,
                              const tn_module_desc *desc, CUmodule *module)
{
  const tn_cuda_image *image = tn_cuda_image_find(desc->name);
  if (!image) {
    if (desc->data) return refuse_source(desc);
    return tn_host->error(TN_UNSUPPORTED, "cuda ships no kernels called "
                          "\"%s\": there are %s", desc->name,
                          tn_cuda_image_names);
  }
  if (image->fatbin) {
    tn_status status = tn_cuda_image_load(device, desc->name, image->fatbin,
                                          TN_LOG_DEBUG, module);
    if (status != TN_COMPILE_FAILED) return status;
    tn_host->log(TN_LOG_INFO, "cuda: \"%s\" has no code for %s: the driver "
                 "compiles it from PTX", desc->name, device->info.name);
  }
  return tn_cuda_image_load(device, desc->name, image->ptx, TN_LOG_ERROR,
                            module);
}

/* PTX has to end with 0. */
static tn_status load_binary(tn_backend_device *device,
                             const tn_module_desc *desc, CUmodule *module)
{
  size_t size = (size_t)desc->size;
  char *image = malloc(size + 1);
  if (!image)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "no host memory for module \"%s\"", desc->name);
  memcpy(image, desc->data, size);
  image[size] = '\0';
  tn_status status = tn_cuda_image_load(device, desc->name, image,
                                        TN_LOG_ERROR, module);
  free(image);
  return status;
}

static tn_status load_handle(tn_backend_device *device,
                             const tn_module_desc *desc, CUmodule *module)
{
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  tn_status status = tn_cuda_check(code, "binding the context", device);
  if (!status)
    status = desc->kind == TN_MODULE_BUILTIN
                 ? load_builtin(device, desc, module)
                 : load_binary(device, desc, module);
  tn_cuda_leave(device, former);
  return status;
}

static tn_status load_module(tn_backend_device *device,
                             const tn_module_desc *desc,
                             tn_backend_module **module)
{
  tn_status status = check_desc(desc);
  if (status) return status;
  tn_backend_module *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "no host memory for module \"%s\"", desc->name);
  status = load_handle(device, desc, &loaded->handle);
  if (status) {
    free(loaded);
    return status;
  }
  loaded->device = device;
  loaded->is_portable = desc->kind == TN_MODULE_BUILTIN;
  pthread_mutex_init(&loaded->lock, NULL);
  *module = loaded;
  return TN_OK;
}

static void free_kernel(tn_backend_kernel *kernel)
{
  free(kernel->signature);
  free(kernel);
}

static void unload_module(tn_backend_module *module)
{
  CUcontext former;
  if (tn_cuda_enter(module->device, &former) == TN_CUDA_SUCCESS) {
    cu_.ModuleUnload(module->handle);
    tn_cuda_leave(module->device, former);
  }
  for (tn_backend_kernel *kernel = module->kernels, *next; kernel;
       kernel = next) {
    next = kernel->next;
    free_kernel(kernel);
  }
  pthread_mutex_destroy(&module->lock);
  free(module);
}

/* On the device's own stream: the synchronous copy would use the legacy one,
 * which waits for others and spoils captures. */
static CUresult read_text(const tn_backend_device *device, char *text,
                          CUdeviceptr address, size_t bytes)
{
  CUresult code = cu_.MemcpyDtoHAsync(text, address, bytes, device->service);
  return code ? code : cu_.StreamSynchronize(device->service);
}

/* The signature is the global "tn_signature_NAME", which the kernel language
 * puts into each module. */
static tn_status read_signature(tn_backend_kernel *kernel)
{
  tn_backend_device *device = kernel->module->device;
  char global[512];
  CUdeviceptr address = 0;
  size_t bytes = 0;
  int length = snprintf(global, sizeof global, "tn_signature_%s",
                        kernel->name);
  CUresult code = length < (int)sizeof global
                      ? cu_.ModuleGetGlobal(&address, &bytes,
                                            kernel->module->handle, global)
                      : TN_CUDA_ERROR_NOT_FOUND;
  if ((int)code == TN_CUDA_ERROR_NOT_FOUND)
    return tn_host->error(TN_UNSUPPORTED,
                          "kernel \"%s\" has no signature: its module needs "
                          "a global tn_signature_%s, as the kernel language "
                          "makes it", kernel->name, kernel->name);
  if (code) return tn_cuda_check(code, "cuModuleGetGlobal", device);
  if (bytes == 0 || bytes > SIGNATURE_MAX)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "kernel \"%s\": a signature of %zu bytes",
                          kernel->name, bytes);
  kernel->signature = calloc(1, bytes + 1);
  if (!kernel->signature)
    return tn_host->error(TN_OUT_OF_MEMORY, "no host memory for kernel "
                          "\"%s\"", kernel->name);
  code = read_text(device, kernel->signature, address, bytes);
  if (code) return tn_cuda_check(code, "reading a signature", device);
  for (const char *c = kernel->signature; *c; c++)
    kernel->parameter_count += *c == '(';
  if (kernel->parameter_count > TN_CUDA_PARAMETERS_MAX)
    return tn_host->error(TN_UNSUPPORTED,
                          "kernel \"%s\" has %u parameters; at most %d are "
                          "taken", kernel->name, kernel->parameter_count,
                          TN_CUDA_PARAMETERS_MAX);
  return TN_OK;
}

/* Threads of a group: 256, or for kernels that share memory one for each word
 * of it, since the built-in ones have as many items as words. */
static void choose_group(tn_backend_kernel *kernel)
{
  uint32_t wanted = 256;
  if (kernel->shared_bytes)
    for (wanted = 64; wanted < 256 && wanted * 4 < kernel->shared_bytes;)
      wanted *= 2;
  if (wanted > kernel->max_group_size) wanted = kernel->max_group_size;
  kernel->group_size = wanted ? wanted : 1;
}

static tn_status read_facts(tn_backend_kernel *kernel)
{
  const struct {
    int what;
    uint32_t *value;
  } facts[] = {
    { TN_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &kernel->max_group_size },
    { TN_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &kernel->shared_bytes },
    { TN_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &kernel->private_bytes },
    { TN_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      &kernel->dynamic_bytes },
  };
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    int value = 0;
    CUresult code = cu_.FuncGetAttribute(
        &value, (CUfunction_attribute)facts[i].what, kernel->function);
    if (code)
      return tn_cuda_check(code, "cuFuncGetAttribute",
                           kernel->module->device);
    *facts[i].value = value > 0 ? (uint32_t)value : 0;
  }
  choose_group(kernel);
  return TN_OK;
}

/* With the context current. The code is loaded now, not by the first launch,
 * which would have to wait for it. */
static tn_status fill_kernel(tn_backend_kernel *kernel)
{
  tn_backend_module *module = kernel->module;
  CUresult code = cu_.ModuleGetFunction(&kernel->function, module->handle,
                                        kernel->name);
  if ((int)code == TN_CUDA_ERROR_NOT_FOUND)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "the module has no kernel \"%s\"", kernel->name);
  if (code) return tn_cuda_check(code, "cuModuleGetFunction", module->device);
  if (cu_.FuncLoad && (code = cu_.FuncLoad(kernel->function)))
    return tn_cuda_check(code, "cuFuncLoad", module->device);
  tn_status status = read_signature(kernel);
  return status ? status : read_facts(kernel);
}

static tn_status make_kernel(tn_backend_module *module, const char *name,
                             tn_backend_kernel **kernel)
{
  tn_backend_kernel *made = calloc(1, sizeof *made);
  if (!made)
    return tn_host->error(TN_OUT_OF_MEMORY, "no host memory for kernel "
                          "\"%s\"", name);
  made->module = module;
  made->name = tn_cuda_name_keep(name);
  CUcontext former;
  CUresult code = tn_cuda_enter(module->device, &former);
  tn_status status = code ? tn_cuda_check(code, "binding the context",
                                          module->device)
                          : fill_kernel(made);
  tn_cuda_leave(module->device, former);
  if (status) {
    free_kernel(made);
    return status;
  }
  *kernel = made;
  return TN_OK;
}

/* With the lock held. */
static tn_backend_kernel *find_kernel(const tn_backend_module *module,
                                      const char *name)
{
  tn_backend_kernel *kernel = module->kernels;
  while (kernel && strcmp(kernel->name, name) != 0) kernel = kernel->next;
  return kernel;
}

/* Errors are told to the host without the lock, so two threads may make the
 * same kernel; the second then takes the first's. */
static tn_status get_kernel(tn_backend_module *module, const char *name,
                            tn_backend_kernel **kernel)
{
  pthread_mutex_lock(&module->lock);
  tn_backend_kernel *found = find_kernel(module, name), *made = NULL;
  pthread_mutex_unlock(&module->lock);
  if (!found) {
    tn_status status = make_kernel(module, name, &made);
    if (status) return status;
    pthread_mutex_lock(&module->lock);
    found = find_kernel(module, name);
    if (!found) {
      made->next = module->kernels;
      module->kernels = found = made;
    }
    pthread_mutex_unlock(&module->lock);
    if (found != made) free_kernel(made);
  }
  *kernel = found;
  return TN_OK;
}

static tn_status get_kernel_info(tn_backend_kernel *kernel,
                                 tn_kernel_info *info)
{
  tn_kernel_info facts = {
    .struct_size = info->struct_size,
    .signature = kernel->signature,
    .shared_bytes = kernel->shared_bytes,
    .private_bytes = kernel->private_bytes,
    .max_group_size = kernel->max_group_size,
    .preferred_group_size = kernel->group_size,
  };
  memcpy(info, &facts, info->struct_size < sizeof facts ? info->struct_size
                                                        : sizeof facts);
  return TN_OK;
}

static tn_status get_occupancy(tn_backend_kernel *kernel, uint32_t group_size,
                               uint64_t shared_bytes, uint32_t *groups)
{
  tn_backend_device *device = kernel->module->device;
  int answer = 0;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code)
    code = cu_.OccupancyMaxActiveBlocksPerMultiprocessor(
        &answer, kernel->function, (int)group_size, (size_t)shared_bytes);
  tn_cuda_leave(device, former);
  if (code)
    return tn_cuda_check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                         device);
  *groups = answer > 0 ? (uint32_t)answer : 0;
  return TN_OK;
}

void *tn_cuda_module_handle(const void *module)
{
  return ((const tn_backend_module *)module)->handle;
}

void *tn_cuda_kernel_handle(const void *kernel)
{
  return ((const tn_backend_kernel *)kernel)->function;
}

const tn_backend_launch_table tn_cuda_launch_table = {
  .struct_size = sizeof tn_cuda_launch_table,
  .module_load = load_module,
  .module_unload = unload_module,
  .kernel_get = get_kernel,
  .kernel_info = get_kernel_info,
  .occupancy = get_occupancy,
  .launch = tn_cuda_launch,
};
