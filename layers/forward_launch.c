#include "layers/forward_table.h"

#include <stdlib.h>
#include <string.h>

#define OF(entry_, device_, ...) \
  { .entry = FORWARD_launch_##entry_, .backend = (device_)->backend, \
    .device = (device_), __VA_ARGS__ }

static void free_module(forward_module *module)
{
  while (module->kernels) {
    forward_kernel *kernel = module->kernels;
    module->kernels = kernel->sibling;
    free(kernel->name);
    free(kernel);
  }
  free(module->name);
  free(module);
}

static tn_status loaded(forward_call *call, tn_backend_module *next,
                        const tn_module_desc *desc, tn_backend_module **out)
{
  const char *name = desc->name;
  forward_module *module = calloc(1, sizeof *module);
  char *copy = strdup(name ? name : "");
  if (!module || !copy) {
    free(module);
    free(copy);
    call->backend->launch.module_unload(next);
    return refuse_memory(call->backend, "module");
  }
  *module = (forward_module){ next, call->device, NULL, copy,
                              desc->kind == TN_MODULE_BUILTIN };
  call->module = module;
  *out = (tn_backend_module *)module;
  return TN_OK;
}

static tn_status launch_module_load(tn_backend_device *device,
                                    const tn_module_desc *desc,
                                    tn_backend_module **module)
{
  forward_device *d = DEVICE(device);
  tn_backend_module *next;
  forward_call call = OF(module_load, d, .name = desc->name,
                         .bytes = desc->size);
  if (!begin_call(&call)) return call.status;
  tn_status status = d->backend->launch.module_load(d->next, desc, &next);
  if (status == TN_OK) status = loaded(&call, next, desc, module);
  return end_call(&call, status);
}

static void launch_module_unload(tn_backend_module *module)
{
  forward_module *m = MODULE(module);
  forward_call call = OF(module_unload, m->device, .module = m,
                         .name = m->name);
  begin_call(&call);
  m->device->backend->launch.module_unload(m->next);
  end_call(&call, TN_OK);
  free_module(m);
}

/* Two threads may ask a module at the same time. */
static void add_kernel(forward_module *module, forward_kernel *kernel)
{
  kernel->sibling = __atomic_load_n(&module->kernels, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&module->kernels, &kernel->sibling,
                                      kernel, 1, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {}
}

static tn_status got(forward_call *call, tn_backend_kernel *next,
                     const char *name, tn_backend_kernel **out)
{
  forward_kernel *kernel = calloc(1, sizeof *kernel);
  char *copy = strdup(name);
  if (!kernel || !copy) {
    free(kernel);
    free(copy);
    return refuse_memory(call->backend, "kernel");
  }
  *kernel = (forward_kernel){ next, call->module, NULL, copy, NULL };
  add_kernel(call->module, kernel);
  call->kernel = kernel;
  *out = (tn_backend_kernel *)kernel;
  return TN_OK;
}

static tn_status launch_kernel_get(tn_backend_module *module,
                                   const char *name,
                                   tn_backend_kernel **kernel)
{
  forward_module *m = MODULE(module);
  tn_backend_kernel *next;
  forward_call call = OF(kernel_get, m->device, .module = m, .name = name);
  if (!begin_call(&call)) return call.status;
  tn_status status = call.backend->launch.kernel_get(m->next, name, &next);
  if (status == TN_OK) status = got(&call, next, name, kernel);
  return end_call(&call, status);
}

static tn_status launch_kernel_info(tn_backend_kernel *kernel,
                                    tn_kernel_info *info)
{
  forward_kernel *k = KERNEL(kernel);
  forward_call call = OF(kernel_info, k->module->device, .kernel = k);
  return CALL_ON(&call, call.backend->launch.kernel_info(k->next, info));
}

static tn_status launch_occupancy(tn_backend_kernel *kernel,
                                  uint32_t group_size, uint64_t shared_bytes,
                                  uint32_t *groups)
{
  forward_kernel *k = KERNEL(kernel);
  forward_call call = OF(occupancy, k->module->device, .kernel = k);
  return CALL_ON(&call, call.backend->launch.occupancy(
                            k->next, group_size, shared_bytes, groups));
}

static tn_status launch_launch(tn_backend_stream *stream,
                               tn_backend_kernel *kernel,
                               const tn_backend_launch_desc *desc,
                               const uint64_t *slots)
{
  forward_kernel *k = KERNEL(kernel);
  forward_call call = OF(launch, k->module->device, .kernel = k,
                         .stream = STREAM(stream), .launch = desc,
                         .slots = slots, .tag = desc->tag);
  return CALL_ON(&call, call.backend->launch.launch(next_stream(stream),
                                                    k->next, desc, slots));
}

const char *forward_signature(const forward_kernel *kernel)
{
  tn_kernel_info info = { .struct_size = sizeof info };
  const forward_backend *b = kernel->module->device->backend;
  if (b->launch.kernel_info(kernel->next, &info) != TN_OK) return NULL;
  return info.signature;
}

const tn_backend_launch_table forward_launch_table = {
  .struct_size = sizeof(tn_backend_launch_table),
  .module_load = launch_module_load,
  .module_unload = launch_module_unload,
  .kernel_get = launch_kernel_get,
  .kernel_info = launch_kernel_info,
  .occupancy = launch_occupancy,
  .launch = launch_launch,
};
