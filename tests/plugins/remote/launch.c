/* Kernels: cpu images, run by the other side on its own memory. */
#include "tests/plugins/remote/remote.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plugins/remote/module.h"

/* Counts the parameters and notes which are pointers. */
static void read_signature(tn_backend_kernel *kernel)
{
  const char *at = kernel->cpu->signature;
  while ((at = strchr(at, '('))) {
    if (strncmp(++at, "VAL", 3) != 0)
      kernel->pointers |= UINT64_C(1) << kernel->slots;
    kernel->slots++;
  }
}

static void add(tn_backend_module *module, const tn_cpu_kernel *code)
{
  tn_backend_kernel *kernel = &module->kernels[module->count++];
  kernel->module = module;
  kernel->cpu = code;
  read_signature(kernel);
}

static tn_status fill(tn_backend_module *module, const remote_image *image)
{
  size_t most = (size_t)(image->kernels->end - image->kernels->begin);
  module->kernels = calloc(most, sizeof *module->kernels);
  if (!module->kernels)
    return remote_host->error(TN_OUT_OF_MEMORY, "no memory for %zu kernels",
                              most);
  for (size_t i = 0; i < most; i++) {
    const tn_cpu_kernel *code = image->kernels->begin[i];
    if (!image->family || !strcmp(code->family, image->family))
      add(module, code);
  }
  return TN_OK;
}

/* Doubles do not compile for a device without them. */
static tn_status check_f64(const tn_backend_module *module, int32_t kind)
{
  for (size_t i = 0; i < module->count; i++)
    if (strstr(module->kernels[i].cpu->signature, ", double,"))
      return remote_host->error(
          kind == TN_MODULE_BUILTIN ? TN_UNSUPPORTED : TN_COMPILE_FAILED,
          "kernel \"%s\" uses double, which device %d of remote lacks",
          module->kernels[i].cpu->name, module->device->ordinal);
  return TN_OK;
}

static tn_status load_into(tn_backend_module *module,
                           const tn_module_desc *desc)
{
  remote_image image;
  tn_status status = remote_image_find(desc, &image);
  module->library = image.library;
  if (!status) status = fill(module, &image);
  return status ? status : check_f64(module, desc->kind);
}

static void module_free(tn_backend_module *module)
{
  free(module->kernels);
  if (module->library) dlclose(module->library);
  free(module);
}

static tn_status module_load(tn_backend_device *device,
                             const tn_module_desc *desc,
                             tn_backend_module **out)
{
  tn_status status = remote_desc_check("module", desc->struct_size,
                                       sizeof *desc, desc->flags, 0);
  if (!status) status = remote_device_check(device);
  if (status) return status;
  tn_backend_module *module = calloc(1, sizeof *module);
  if (!module)
    return remote_host->error(TN_OUT_OF_MEMORY, "no memory for a module");
  module->device = device;
  status = load_into(module, desc);
  if (status) {
    module_free(module);
    return status;
  }
  atomic_fetch_add(&device->modules, 1);
  *out = module;
  return TN_OK;
}

static void module_unload(tn_backend_module *module)
{
  pthread_mutex_lock(&remote_lock);
  for (size_t i = 0; i < module->count; i++) {
    const tn_backend_kernel *kernel = &module->kernels[i];
    if (kernel->pending)
      remote_broken("module_unload: %u launches of %s are pending",
                    kernel->pending, kernel->cpu->name);
    if (kernel->graphs)
      remote_broken("module_unload: %u graphs have %s", kernel->graphs,
                    kernel->cpu->name);
  }
  pthread_mutex_unlock(&remote_lock);
  atomic_fetch_sub(&module->device->modules, 1);
  module_free(module);
}

static tn_status kernel_get(tn_backend_module *module, const char *name,
                            tn_backend_kernel **out)
{
  for (size_t i = 0; i < module->count; i++) {
    if (strcmp(module->kernels[i].cpu->name, name) != 0) continue;
    *out = &module->kernels[i];
    return TN_OK;
  }
  return remote_host->error(TN_INVALID_ARGUMENT,
                            "no kernel \"%s\" in the module", name);
}

static tn_status kernel_info(tn_backend_kernel *kernel, tn_kernel_info *out)
{
  tn_kernel_info facts = {
    .struct_size = out->struct_size,
    .signature = kernel->cpu->signature,
    .max_group_size = 64,
    .preferred_group_size = 1,
  };
  memcpy(out, &facts,
         out->struct_size < sizeof facts ? out->struct_size : sizeof facts);
  return TN_OK;
}

/* The number of items or groups; 0 after host->error. */
static int64_t total_of(const tn_backend_launch_desc *desc)
{
  int64_t total = desc->items;
  for (int i = 0; i < 3; i++) {
    if (desc->group_size[i] > 64) goto too_large;
    if (desc->items) continue;
    if (desc->groups[i] < 1) remote_broken("launch of no items or groups");
    if (i == 0) total = 1;
    if (__builtin_mul_overflow(total, desc->groups[i], &total))
      goto too_large;
  }
  return total;
too_large:
  remote_host->error(TN_INVALID_ARGUMENT, "more groups or items of a group "
                                          "than remote can have");
  return 0;
}

static tn_status queue(tn_backend_stream *stream, tn_backend_kernel *kernel,
                       const tn_backend_launch_desc *desc,
                       const uint64_t *slots)
{
  int64_t total = total_of(desc);
  if (!total) return TN_INVALID_ARGUMENT;
  remote_command *command =
      remote_command_new(stream, REMOTE_LAUNCH, desc->tag);
  if (!command) return TN_OUT_OF_MEMORY;
  remote_launch *launch = &command->as.launch;
  launch->kernel = kernel;
  launch->items = total;
  launch->chunks = 1 + remote_chance(total < 4 ? (unsigned)total : 4);
  launch->first = remote_chance(launch->chunks);
  launch->slots = malloc((kernel->slots + 1) * sizeof *slots);
  if (!launch->slots) {
    remote_command_free(command);
    return remote_host->error(TN_OUT_OF_MEMORY, "no memory for a launch");
  }
  memcpy(launch->slots, slots, kernel->slots * sizeof *slots);
  if (!stream->capture) {
    command->fault = remote_fault_next(true);
    pthread_mutex_lock(&remote_lock);
    remote_launch_begin(kernel);
    pthread_mutex_unlock(&remote_lock);
  }
  remote_command_queue(command);
  return TN_OK;
}

static tn_status launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                        const tn_backend_launch_desc *desc,
                        const uint64_t *slots)
{
  if (stream->device != kernel->module->device)
    remote_broken("launch of %s on a stream of another device",
                  kernel->cpu->name);
  remote_stream_enter(stream, "launch");
  tn_status status = remote_desc_check("launch", desc->struct_size,
                                       sizeof *desc, desc->flags, 0);
  if (!status) status = remote_device_check(stream->device);
  if (!status) status = queue(stream, kernel, desc, slots);
  remote_stream_leave(stream);
  return status;
}

void remote_launch_begin(tn_backend_kernel *kernel) { kernel->pending++; }
void remote_launch_end(tn_backend_kernel *kernel) { kernel->pending--; }

void remote_kernel_keep(tn_backend_kernel *kernel, bool is_kept)
{
  if (is_kept) kernel->graphs++;
  else kernel->graphs--;
}

unsigned remote_kernel_slots(const tn_backend_kernel *kernel)
{
  return kernel->slots;
}

/* Addresses of the window become those of the store. */
static bool translate(const remote_command *command, char *text)
{
  const remote_launch *launch = &command->as.launch;
  for (unsigned i = 0; i < launch->kernel->slots; i++) {
    uint64_t address = launch->slots[i];
    if (!(launch->kernel->pointers >> i & 1) || !address) continue;
    void *bytes = remote_memory_pointer(command->stream->device, address);
    if (!bytes) {
      snprintf(text, TN_BACKEND_TEXT_SIZE,
               "argument %u of %s: 0x%llx is no memory of device %d", i,
               launch->kernel->cpu->name, (unsigned long long)address,
               command->stream->device->ordinal);
      return false;
    }
    launch->slots[i] = (uintptr_t)bytes;
  }
  return true;
}

tn_status remote_launch_run(const remote_command *command, char *text)
{
  const remote_launch *launch = &command->as.launch;
  if (!translate(command, text)) return TN_LAUNCH_FAILED;
  int64_t step = launch->items / launch->chunks;
  for (unsigned i = 0; i < launch->chunks; i++) {
    unsigned chunk = (launch->first + i) % launch->chunks;
    tn_range range = { step * chunk, step * (chunk + 1) };
    if (chunk + 1 == launch->chunks) range.end = INT64_MAX;
    launch->kernel->cpu->run(range, launch->slots);
  }
  return TN_OK;
}

const tn_backend_launch_table remote_launch_table = {
  .struct_size = sizeof(tn_backend_launch_table),
  .module_load = module_load,
  .module_unload = module_unload,
  .kernel_get = kernel_get,
  .kernel_info = kernel_info,
  .launch = launch,
};
