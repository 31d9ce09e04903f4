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

#define SYMBOL_MORE(function, name, version, parameters) \
  { "cu" #name, version, (void (*)(void))emu_##function },

static const symbol symbols[] = {
  TN_CUDA_REQUIRED(SYMBOL)
  TN_CUDA_OPTIONAL(SYMBOL)
  TN_CUDA_GRAPHS(SYMBOL)
  EMU_CALLS_MORE(SYMBOL_MORE)
};

/* The newest form that the version knows. */
static const symbol *find(const char *name, int version)
{
  const symbol *found = NULL;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    const symbol *s = symbols + i;
    if (strcmp(s->name, name) == 0 && s->version <= version &&
        (!found || s->version > found->version))
      found = s;
  }
  return found;
}

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
  const char *without = emu.settings.without;
  *function = NULL;
  *status = EMU_SYMBOL_NOT_FOUND;
  if (without && strcmp(without, name) == 0) return TN_CUDA_SUCCESS;
  const symbol *found = find(name, version);
  if (found) memcpy(function, &found->function, sizeof *function);
  *status = found               ? EMU_SYMBOL_FOUND
            : find(name, driver) ? EMU_SYMBOL_VERSION_NOT_SUFFICIENT
                                 : EMU_SYMBOL_NOT_FOUND;
  return TN_CUDA_SUCCESS;
}
