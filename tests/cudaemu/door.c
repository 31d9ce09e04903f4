/* The way in, from 12.0 on. */
#include "tests/cudaemu/emulator.h"

const bool emu_is_old = false;

EMU_PUBLIC CUresult cuGetProcAddress_v2(const char *name, void **function,
                                        int version, uint64_t flags,
                                        int *status);
EMU_PUBLIC CUresult cuDriverGetVersion(int *version);

/* Without a place for the status, what cannot be had is an error. */
CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                             uint64_t flags, int *status)
{
  emu_symbol_status found = EMU_SYMBOL_NOT_FOUND;
  CUresult code = emu_symbol_find(name, function, version, flags, &found);
  if (code) return code;
  if (status) *status = (int)found;
  return status || found == EMU_SYMBOL_FOUND ? TN_CUDA_SUCCESS
                                             : TN_CUDA_ERROR_NOT_FOUND;
}

CUresult cuDriverGetVersion(int *version)
{
  return emu_DriverGetVersion(version);
}
