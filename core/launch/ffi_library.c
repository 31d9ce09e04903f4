#include "config.h"

#include "core/launch/ffi_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"

static tn_ffi_library library;
static bool is_open;
static char reason[256];

static void *open_any(void)
{
  /* The first is what the header at build time belongs to. */
  static const char *const names[] = { "libffi.so.8", "libffi.so.7" };
  void *handle = NULL;
  for (int i = 0; i < 2 && !handle; i++) {
    handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle && i == 0)
      snprintf(reason, sizeof reason, "%s", dlerror());
  }
  return handle;
}

/* Functions too are addresses to dlsym. */
static bool find(void *handle, const char *name, void *into)
{
  void *found = dlsym(handle, name);
  if (!found) snprintf(reason, sizeof reason, "libffi has no %s", name);
  *(void **)into = found;
  return found != NULL;
}

static bool find_all(void *h)
{
  return find(h, "ffi_prep_cif", &library.prep_cif) &&
         find(h, "ffi_call", &library.call) &&
         find(h, "ffi_type_void", &library.type_void) &&
         find(h, "ffi_type_pointer", &library.type_pointer) &&
         find(h, "ffi_type_sint32", &library.type_sint32) &&
         find(h, "ffi_type_sint64", &library.type_sint64) &&
         find(h, "ffi_type_float", &library.type_float) &&
         find(h, "ffi_type_double", &library.type_double);
}

static void open_library(void)
{
  void *handle = open_any();
  if (!handle) return;
  is_open = find_all(handle);
  if (!is_open) dlclose(handle);
}

const tn_ffi_library *tn_ffi_open(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  if (is_open) return &library;
  tn_error(TN_DEVICE_UNAVAILABLE, "C functions cannot be kernels without "
           "libffi: %s", reason);
  return NULL;
}
