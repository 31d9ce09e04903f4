/* Functions by name and version. */
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

/* A version above the driver's is refused; one below the function's own gives
 * NULL with success, and says so in the status alone. */
CUresult emu_symbol_find(const char *name, void **function, int version,
                         uint64_t flags, emu_symbol_status *status)
{
  int driver = 0;
  CUresult code = emu_DriverGetVersion(&driver);
  if (code) return code;
  if (!name || !function || version > driver || flags > 1)
    return TN_CUDA_ERROR_INVALID_VALUE;
  *function = NULL;
  *status = EMU_SYMBOL_NOT_FOUND;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    const symbol *s = symbols + i;
    if (strcmp(s->name, name) != 0 || s->version > driver) continue;
    bool is_in_time = version >= s->version;
    if (is_in_time) memcpy(function, &s->function, sizeof *function);
    *status = is_in_time ? EMU_SYMBOL_FOUND
                         : EMU_SYMBOL_VERSION_NOT_SUFFICIENT;
  }
  return TN_CUDA_SUCCESS;
}
