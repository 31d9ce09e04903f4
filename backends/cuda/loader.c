#include "config.h"

#include "backends/cuda/loader.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#define LIBRARY "libcuda.so.1"

/* cuGetProcAddress's flag for streams: the stream 0 of this backend's calls
 * is the legacy one, however the program was compiled. */
#define LEGACY_STREAM 1

typedef CUresult get_address(const char *name, void **function, int version,
                             uint64_t flags, int *status);

tn_cuda_calls cu_;
static int driver_version;

typedef struct entry_point {
  const char *name;
  int version;
  void *slot; /* the address of a function pointer */
  bool required;
} entry_point;

static const entry_point entry_points[] = {
#define REQUIRED(name, version, parameters) \
  { "cu" #name, version, &cu_.name, true },
#define OPTIONAL(name, version, parameters) \
  { "cu" #name, version, &cu_.name, false },
  TN_CUDA_REQUIRED(REQUIRED)
  TN_CUDA_OPTIONAL(OPTIONAL)
  TN_CUDA_GRAPHS(OPTIONAL)
};

/* A function that is too new comes back as NULL with success, and its status
 * says why. */
static const char *why_absent(CUresult code, int status)
{
  if (code == TN_CUDA_ERROR_INVALID_VALUE) return "is of a newer driver";
  if (code != TN_CUDA_SUCCESS) return "cannot be asked for";
  switch (status) {
    case 1: return "is not there";
    case 2: return "is of a newer driver";
    default: return "came back as NULL";
  }
}

static const char *find_entries(get_address *ask, char *reason, size_t size)
{
  for (size_t i = 0; i < sizeof entry_points / sizeof *entry_points; i++) {
    const entry_point *entry = entry_points + i;
    void *function = NULL;
    int status = 0;
    CUresult code = ask(entry->name, &function, entry->version,
                        LEGACY_STREAM, &status);
    if (code != TN_CUDA_SUCCESS || status) function = NULL;
    if (!function && entry->required) {
      snprintf(reason, size,
               LIBRARY ": %s of CUDA %d.%d %s (code %d, symbol status %d)",
               entry->name, entry->version / 1000,
               entry->version % 1000 / 10, why_absent(code, status),
               (int)code, status);
      return reason;
    }
    *(void **)entry->slot = function;
  }
  return NULL;
}

static const char *refuse_version(int version, char *reason, size_t size)
{
  snprintf(reason, size,
           "the NVIDIA driver is for CUDA %d.%d; CUDA %d.%d (driver 525) or "
           "later is needed", version / 1000, version % 1000 / 10,
           TN_CUDA_VERSION_MIN / 1000, TN_CUDA_VERSION_MIN % 1000 / 10);
  return reason;
}

/* The version comes first: an old driver is told by it, not by whichever
 * function it lacks. */
static const char *check_version(get_address *ask, char *reason, size_t size)
{
  CUresult (*get_version)(int *) = NULL;
  int status = 0, version = 0;
  CUresult code = ask("cuDriverGetVersion", (void **)&get_version, 2020,
                      LEGACY_STREAM, &status);
  if ((int)code == TN_CUDA_ERROR_STUB_LIBRARY) return TN_CUDA_STUB_REASON;
  if (!code)
    code = get_version ? get_version(&version) : TN_CUDA_ERROR_NOT_FOUND;
  if (code) {
    snprintf(reason, size, LIBRARY ": cuDriverGetVersion answered %d",
             (int)code);
    return reason;
  }
  if (version < TN_CUDA_VERSION_MIN)
    return refuse_version(version, reason, size);
  driver_version = version;
  return NULL;
}

/* Drivers before 12.0 have only the first cuGetProcAddress. */
static const char *refuse_old(void *library, char *reason, size_t size)
{
  CUresult (*get_version)(int *) = NULL;
  int version = 0;
  *(void **)&get_version = dlsym(library, "cuDriverGetVersion");
  if (get_version && get_version(&version) == TN_CUDA_SUCCESS &&
      version < TN_CUDA_VERSION_MIN)
    return refuse_version(version, reason, size);
  snprintf(reason, size, LIBRARY " has no cuGetProcAddress_v2: a driver for "
           "CUDA %d.%d (525) or later is needed", TN_CUDA_VERSION_MIN / 1000,
           TN_CUDA_VERSION_MIN % 1000 / 10);
  return reason;
}

const char *tn_cuda_load(char *reason, size_t size)
{
  static void *library;
  if (library) return NULL;
  void *opened = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char *error = dlerror();
    snprintf(reason, size, "no NVIDIA driver: %s",
             error ? error : LIBRARY " cannot be opened");
    return reason;
  }
  get_address *ask = NULL;
  *(void **)&ask = dlsym(opened, "cuGetProcAddress_v2");
  const char *failure = ask ? check_version(ask, reason, size)
                            : refuse_old(opened, reason, size);
  if (!failure) failure = find_entries(ask, reason, size);
  if (failure) {
    dlclose(opened);
    return failure;
  }
  library = opened;
  return NULL;
}

int tn_cuda_driver_version(void) { return driver_version; }
