#include "tests/cudaemu/module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/stream.h"

/* What of PTX a driver knows. */
static unsigned ptx_version(int driver)
{
  static const unsigned minor[] = { 0, 1, 2, 3, 4, 5, 5, 6, 7, 8 };
  int major = driver / 1000, point = driver % 1000 / 10;
  if (major >= 13) return 90;
  return major == 12 ? 80 + minor[point < 10 ? point : 9]
                     : 70 + (unsigned)point;
}

/* The texts that a program asks for by options. */
typedef struct jit_log {
  char *text;
  size_t size;
} jit_log;

static CUresult read_options(unsigned count, const CUjit_option *options,
                             void *const *values, jit_log *errors,
                             jit_log *notes)
{
  if (count && (!options || !values)) return TN_CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++)
    switch ((int)options[i]) {
      case TN_CU_JIT_ERROR_LOG_BUFFER: errors->text = values[i]; break;
      case TN_CU_JIT_INFO_LOG_BUFFER: notes->text = values[i]; break;
      case TN_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        errors->size = (uintptr_t)values[i];
        break;
      case TN_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        notes->size = (uintptr_t)values[i];
        break;
      default:
        emu_print("JIT option %d is not emulated", (int)options[i]);
        return TN_CUDA_ERROR_INVALID_VALUE;
    }
  return TN_CUDA_SUCCESS;
}

static void write_log(const jit_log *log, const char *text)
{
  if (log->text && log->size)
    snprintf(log->text, log->size, *text ? "EMULATED: %s" : "%s", text);
}

/* Machine code is for real devices. */
static bool is_machine_code(const char *image)
{
  static const char fatbin[] = "\x50\xed\x55\xba";
  return memcmp(image, "\x7f" "ELF", 4) == 0 || memcmp(image, fatbin, 4) == 0;
}

static CUresult code_of(ptx_status status)
{
  switch (status) {
    case PTX_OK: return TN_CUDA_SUCCESS;
    case PTX_INVALID: return TN_CUDA_ERROR_INVALID_PTX;
    case PTX_VERSION_TOO_NEW: return TN_CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case PTX_TARGET_TOO_NEW: return TN_CUDA_ERROR_NO_BINARY_FOR_GPU;
    case PTX_NO_MEMORY: break;
  }
  return TN_CUDA_ERROR_OUT_OF_MEMORY;
}

/* Variables get memory first, then their bytes: images may hold addresses of
 * other variables. */
static CUresult place(emu_module *module, int device)
{
  size_t count = ptx_module_variable_count(module->ptx);
  CUresult code = TN_CUDA_SUCCESS;
  module->variables = calloc(count + 1, sizeof *module->variables);
  if (!module->variables) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < count && !code; i++) {
    const ptx_variable *v = ptx_module_variable(module->ptx, i);
    code = emu_memory_take(device, v->size ? v->size : 1,
                           module->variables + i);
    if (!code) ptx_module_place(module->ptx, i, module->variables[i]->address);
  }
  for (size_t i = 0; i < count && !code; i++) {
    const ptx_variable *v = ptx_module_variable(module->ptx, i);
    unsigned char *host = module->variables[i]->host;
    memset(host, 0, (size_t)v->size);
    if (v->image) memcpy(host, v->image, (size_t)v->image_size);
  }
  return code;
}

static CUresult make_functions(emu_module *module)
{
  size_t count = ptx_module_entry_count(module->ptx);
  module->functions = calloc(count + 1, sizeof *module->functions);
  if (!module->functions) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  module->function_count = count;
  for (size_t i = 0; i < count; i++) {
    const ptx_entry *entry = ptx_module_entry(module->ptx, i);
    int rest = (48 << 10) - (int)entry->shared_bytes;
    module->functions[i] =
        (emu_function){ module, entry, rest > 0 ? rest : 0 };
  }
  return TN_CUDA_SUCCESS;
}

/* The functions stay: their handles must be told from good ones. */
static void unload(emu_module *module)
{
  size_t count = ptx_module_variable_count(module->ptx);
  for (size_t i = 0; module->variables && i < count; i++)
    if (module->variables[i]) emu_memory_drop(module->variables[i]);
  free(module->variables);
  module->variables = NULL;
  ptx_module_free(module->ptx);
  module->ptx = NULL;
}

static CUresult load(emu_module *module, const char *image,
                     const jit_log *errors)
{
  char log[512] = "";
  const ptx_limits limits = {
    .version = ptx_version(emu.settings.driver),
    .target = (unsigned)emu.settings.capability,
  };
  if (is_machine_code(image)) return TN_CUDA_ERROR_NO_BINARY_FOR_GPU;
  CUresult code = code_of(ptx_module_load(image, strlen(image), &limits, log,
                                          sizeof log, &module->ptx));
  write_log(errors, log);
  if (code) return code;
  code = place(module, module->context->device);
  if (!code) code = make_functions(module);
  if (code) unload(module);
  return code;
}

CUresult emu_ModuleLoadDataEx(CUmodule *module, const void *image,
                              unsigned option_count, CUjit_option *options,
                              void **values)
{
  jit_log errors = { NULL, 0 }, notes = { NULL, 0 };
  CUresult code = emu_enter(EMU_ModuleLoadDataEx, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  if (!module || !image) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  code = read_options(option_count, options, values, &errors, &notes);
  if (code) return emu_leave(code);
  write_log(&errors, "");
  write_log(&notes, "");
  emu_module *made = calloc(1, sizeof *made);
  if (!made) return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  made->context = emu_current();
  code = load(made, image, &errors);
  if (code) {
    free(made->functions);
    free(made);
    return emu_leave(code);
  }
  made->next = emu.modules;
  emu.modules = *module = made;
  return emu_leave(TN_CUDA_SUCCESS);
}

static emu_module *find_module(CUmodule handle)
{
  emu_module *module = emu.modules;
  while (module && module != handle) module = module->next;
  return module && module->ptx ? module : NULL;
}

emu_function *emu_function_find(CUfunction handle)
{
  for (emu_module *m = emu.modules; m; m = m->next)
    for (size_t i = 0; i < m->function_count && m->ptx; i++)
      if (m->functions + i == handle) return handle;
  return NULL;
}

/* Waits for what runs its kernels. */
CUresult emu_ModuleUnload(CUmodule handle)
{
  CUresult code = emu_enter(EMU_ModuleUnload, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  emu_module *module = find_module(handle);
  if (!module) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  emu_context_wait(module->context);
  if (module->ptx) unload(module);
  return emu_leave(emu_context_tell(module->context));
}

void emu_modules_close(const emu_context *context)
{
  for (emu_module *m = emu.modules; m; m = m->next)
    if (m->context == context && m->ptx) unload(m);
}

CUresult emu_ModuleGetFunction(CUfunction *function, CUmodule handle,
                               const char *name)
{
  CUresult code = emu_enter(EMU_ModuleGetFunction, EMU_CONTEXT);
  if (code) return code;
  const emu_module *module = find_module(handle);
  if (!module) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  if (!function || !name) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < module->function_count; i++)
    if (strcmp(module->functions[i].entry->name, name) == 0) {
      *function = module->functions + i;
      return emu_leave(TN_CUDA_SUCCESS);
    }
  return emu_leave(TN_CUDA_ERROR_NOT_FOUND);
}

CUresult emu_ModuleGetGlobal(CUdeviceptr *address, size_t *bytes,
                             CUmodule handle, const char *name)
{
  CUresult code = emu_enter(EMU_ModuleGetGlobal, EMU_CONTEXT);
  if (code) return code;
  const emu_module *module = find_module(handle);
  if (!module) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  if (!name) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  const ptx_variable *v = ptx_module_find_variable(module->ptx, name);
  if (!v) return emu_leave(TN_CUDA_ERROR_NOT_FOUND);
  if (address) *address = v->address;
  if (bytes) *bytes = (size_t)v->size;
  return emu_leave(TN_CUDA_SUCCESS);
}
