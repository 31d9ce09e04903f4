/* The way in: functions by name and version. */
#include "tests/cudaemu/emulator.h"

#include <string.h>

typedef struct symbol {
  const char *name;
  int version; /* in which this form of it came up */
  void (*function)(void);
} symbol;

#define SYMBOL(name, version, parameters) \
  { "cu" #name, version, (void (*)(void))emu_##name },

static const symbol symbols[] = {
  TN_CUDA_REQUIRED(SYMBOL)
  TN_CUDA_OPTIONAL(SYMBOL)
  SYMBOL(CtxSynchronize, 2000, (void))
};

enum { FOUND = 0, NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 };

EMU_PUBLIC CUresult cuGetProcAddress_v2(const char *name, void **function,
                                        int version, uint64_t flags,
                                        int *status);
EMU_PUBLIC CUresult cuDriverGetVersion(int *version);

/* A version above the driver's is refused; one below the function's own gives
 * NULL with success, and says so in the status alone. */
CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                             uint64_t flags, int *status)
{
  int driver = 0;
  CUresult code = cuDriverGetVersion(&driver);
  if (code) return code;
  if (!name || !function || version > driver || flags > 1)
    return TN_CUDA_ERROR_INVALID_VALUE;
  *function = NULL;
  if (status) *status = NOT_FOUND;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    const symbol *s = symbols + i;
    if (strcmp(s->name, name) != 0 || s->version > driver) continue;
    if (version >= s->version) memcpy(function, &s->function, sizeof *function);
    if (status)
      *status = version >= s->version ? FOUND : VERSION_NOT_SUFFICIENT;
    return TN_CUDA_SUCCESS;
  }
  return status ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_NOT_FOUND;
}

CUresult cuDriverGetVersion(int *version)
{
  return emu_DriverGetVersion(version);
}
