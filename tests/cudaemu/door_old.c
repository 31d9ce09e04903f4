/* The way in before 12.0: the first cuGetProcAddress, which has no status. */
#include "tests/cudaemu/emulator.h"

const bool emu_is_old = true;

EMU_PUBLIC CUresult cuGetProcAddress(const char *name, void **function,
                                     int version, uint64_t flags);
EMU_PUBLIC CUresult cuDriverGetVersion(int *version);

CUresult cuGetProcAddress(const char *name, void **function, int version,
                          uint64_t flags)
{
  emu_symbol_status found = EMU_SYMBOL_NOT_FOUND;
  CUresult code = emu_symbol_find(name, function, version, flags, &found);
  if (code) return code;
  return found == EMU_SYMBOL_FOUND ? TN_CUDA_SUCCESS
                                   : TN_CUDA_ERROR_NOT_FOUND;
}

CUresult cuDriverGetVersion(int *version)
{
  return emu_DriverGetVersion(version);
}
