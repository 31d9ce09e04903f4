#include "config.h"

#include "backends/opencl/loader.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#define TN_OPENCL_LIBRARY "libOpenCL.so.1"

tn_opencl_calls cl_;

typedef struct entry_point {
  const char *name;
  void *slot; /* the address of a function pointer */
  bool required;
} entry_point;

static const entry_point entry_points[] = {
#define REQUIRED(call) { "cl" #call, &cl_.call, true },
#define OPTIONAL(call) { "cl" #call, &cl_.call, false },
  TN_OPENCL_REQUIRED(REQUIRED)
  TN_OPENCL_OPTIONAL(OPTIONAL)
};

const char *tn_opencl_load(char *reason, size_t size)
{
  static void *library;
  if (library) return NULL;
  void *opened = dlopen(TN_OPENCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char *error = dlerror();
    snprintf(reason, size, "no OpenCL loader: %s",
             error ? error : TN_OPENCL_LIBRARY " cannot be opened");
    return reason;
  }
  for (size_t i = 0; i < sizeof entry_points / sizeof *entry_points; i++) {
    const entry_point *entry = entry_points + i;
    void *symbol = dlsym(opened, entry->name);
    if (!symbol && entry->required) {
      snprintf(reason, size,
               TN_OPENCL_LIBRARY " lacks %s: OpenCL 1.2 or later is needed",
               entry->name);
      dlclose(opened);
      return reason;
    }
    *(void **)entry->slot = symbol;
  }
  library = opened;
  return NULL;
}
