/* Whether the driver here has what the cuda backend asks for, and takes the
 * PTX files that are named: the backend's own, of a low version. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/cuda/driver.h"
#include "tests/tap.h"

typedef CUresult get_address(const char *name, void **function, int version,
                             uint64_t flags, int *status);

static tn_cuda_calls cu;

static const struct {
  const char *name;
  int version;
  void *slot;
  bool required;
} entries[] = {
#define REQUIRED(name, version, parameters) \
  { "cu" #name, version, &cu.name, true },
#define OPTIONAL(name, version, parameters) \
  { "cu" #name, version, &cu.name, false },
  TN_CUDA_REQUIRED(REQUIRED)
  TN_CUDA_OPTIONAL(OPTIONAL)
};

static bool find_all(void *library)
{
  get_address *ask = NULL;
  bool has_all = true;
  *(void **)&ask = dlsym(library, "cuGetProcAddress_v2");
  if (!tap_ok(ask != NULL, "cuGetProcAddress_v2 is there")) return false;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *function = NULL;
    int status = 0;
    CUresult code = ask(entries[i].name, &function, entries[i].version, 1,
                        &status);
    if (code || status) function = NULL;
    *(void **)entries[i].slot = function;
    if (!function && !entries[i].required) {
      tap_note("%s is not there, and may be missing", entries[i].name);
      continue;
    }
    has_all &= tap_ok(function != NULL, "%s of CUDA %d.%d: code %d, status %d",
                      entries[i].name, entries[i].version / 1000,
                      entries[i].version % 1000 / 10, (int)code, status);
  }
  return has_all;
}

static bool open_device(void)
{
  CUdevice device = 0;
  CUcontext context = NULL;
  CUresult code = cu.Init(0);
  if (!code) code = cu.DeviceGet(&device, 0);
  if (!code) code = cu.DevicePrimaryCtxRetain(&context, device);
  if (!code) code = cu.CtxSetCurrent(context);
  return tap_ok(code == 0, "the first device has a context: code %d",
                (int)code);
}

/* The whole file with a 0 after it, to be freed; NULL if it cannot be read. */
static char *read_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long size = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
    text = calloc(1, (size_t)size + 1);
  if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
    free(text);
    text = NULL;
  }
  if (file) fclose(file);
  return text;
}

static void load(const char *path)
{
  char log[4096] = "";
  CUjit_option options[] = { (CUjit_option)TN_CU_JIT_ERROR_LOG_BUFFER,
                             (CUjit_option)
                                 TN_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
  void *values[] = { log, (void *)(uintptr_t)sizeof log };
  CUmodule module = NULL;
  char *text = read_file(path);
  CUresult code = text ? cu.ModuleLoadDataEx(&module, text, 2, options, values)
                       : TN_CUDA_ERROR_NOT_FOUND;
  if (!tap_ok(code == 0, "%s loads: code %d", path, (int)code))
    tap_note("%s", text ? log : "it cannot be read");
  if (!code) cu.ModuleUnload(module);
  free(text);
}

int main(int argc, char **argv)
{
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (tap_ok(library != NULL, "libcuda.so.1 is there") && find_all(library) &&
      open_device())
    for (int i = 1; i < argc; i++) load(argv[i]);
  tap_ok(argc > 1, "there is PTX to load");
  return tap_done();
}
