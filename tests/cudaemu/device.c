/* The driver's beginning, and what devices say of themselves. */
#include "tests/cudaemu/emulator.h"

#include <stdio.h>
#include <string.h>

#include "tests/cudaemu/address.h"
#include "tests/cudaemu/visible.h"

static void note_fork(void) { emu.forked = true; }

CUresult emu_Init(unsigned flags)
{
  static bool is_hooked;
  CUresult code = emu_enter(EMU_Init, EMU_BEFORE_INIT);
  if (code) return code;
  if (flags) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if (emu.initialised) return emu_leave(TN_CUDA_SUCCESS);
  emu.visible_count = emu_visible_find(emu.visible);
  if (!emu.visible_count) return emu_leave(TN_CUDA_ERROR_NO_DEVICE);
  for (int i = 0; i < emu.visible_count; i++) {
    emu.contexts[i].device = i;
    if (!emu_window_open(i, emu.settings.memory))
      return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  }
  if (!is_hooked) pthread_atfork(NULL, NULL, note_fork);
  is_hooked = emu.initialised = true;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_DriverGetVersion(int *version)
{
  CUresult code = emu_enter(EMU_DriverGetVersion, EMU_BEFORE_INIT);
  if (code) return code;
  if (!version) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *version = emu.settings.driver;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_DeviceGetCount(int *count)
{
  CUresult code = emu_enter(EMU_DeviceGetCount, 0);
  if (code) return code;
  *count = emu.visible_count;
  return emu_leave(TN_CUDA_SUCCESS);
}

static CUresult check(CUdevice device)
{
  return (int)device >= 0 && (int)device < emu.visible_count
             ? TN_CUDA_SUCCESS
             : TN_CUDA_ERROR_INVALID_DEVICE;
}

CUresult emu_DeviceGet(CUdevice *device, int ordinal)
{
  CUresult code = emu_enter(EMU_DeviceGet, 0);
  if (code) return code;
  code = check(ordinal);
  if (!code) *device = ordinal;
  return emu_leave(code);
}

CUresult emu_DeviceGetName(char *name, int size, CUdevice device)
{
  CUresult code = emu_enter(EMU_DeviceGetName, 0);
  if (code) return code;
  code = size < 1 || !name ? TN_CUDA_ERROR_INVALID_VALUE : check(device);
  if (!code) emu_board_name(&emu.settings, emu.visible[device], name,
                            (unsigned)size);
  return emu_leave(code);
}

CUresult emu_DeviceGetUuid(CUuuid *uuid, CUdevice device)
{
  CUresult code = emu_enter(EMU_DeviceGetUuid, 0);
  if (code) return code;
  code = check(device);
  if (!code) emu_board_uuid(emu.visible[device], uuid->bytes);
  return emu_leave(code);
}

CUresult emu_DeviceTotalMem(size_t *bytes, CUdevice device)
{
  CUresult code = emu_enter(EMU_DeviceTotalMem, 0);
  if (code) return code;
  code = check(device);
  if (!code) *bytes = (size_t)emu.settings.memory;
  return emu_leave(code);
}

CUresult emu_DeviceGetPCIBusId(char *id, int size, CUdevice device)
{
  CUresult code = emu_enter(EMU_DeviceGetPCIBusId, 0);
  if (code) return code;
  code = size < 13 ? TN_CUDA_ERROR_INVALID_VALUE : check(device);
  if (!code)
    snprintf(id, (size_t)size, "%04X:%02X:00.0", EMU_BOARD_DOMAIN,
             (unsigned)emu_board_bus(emu.visible[device]) & 0xff);
  return emu_leave(code);
}

/* Whether one may access the other's memory, if that is enabled. */
bool emu_are_peers(int device, int peer)
{
  uint32_t peers = emu.settings.peers[emu.visible[device]];
  return device != peer && peers >> emu.visible[peer] & 1;
}

CUresult emu_DeviceCanAccessPeer(int *possible, CUdevice device,
                                 CUdevice peer)
{
  CUresult code = emu_enter(EMU_DeviceCanAccessPeer, 0);
  if (code) return code;
  code = check(device) ? check(device) : check(peer);
  if (!code) *possible = emu_are_peers(device, peer);
  return emu_leave(code);
}

int emu_shared_limit(void)
{
  int capability = emu.settings.capability;
  switch (capability) {
    case 80: case 87: return 163 << 10;
    case 86: case 89: case 120: return 99 << 10;
    case 90: case 100: case 103: return 227 << 10;
    default: return capability >= 75 ? 64 << 10 : 48 << 10;
  }
}

static const struct {
  int what, value;
} facts[] = {
  { TN_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
  { TN_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
  { TN_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 },
  { TN_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
  { TN_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff },
  { TN_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
  { TN_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 },
  { TN_CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
  { TN_CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff },
  { TN_CU_DEVICE_ATTRIBUTE_INTEGRATED, 0 },
  { TN_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0 },
  { TN_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
};

static CUresult find_fact(int what, int *value)
{
  int capability = emu.settings.capability;
  switch (what) {
    case TN_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = capability / 10;
      return TN_CUDA_SUCCESS;
    case TN_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = capability % 10;
      return TN_CUDA_SUCCESS;
    case TN_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = emu_shared_limit();
      return TN_CUDA_SUCCESS;
    case TN_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = emu_board_units();
      return TN_CUDA_SUCCESS;
  }
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    if (facts[i].what == what) {
      *value = facts[i].value;
      return TN_CUDA_SUCCESS;
    }
  emu_print("device attribute %d is not emulated", what);
  return TN_CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_DeviceGetAttribute(int *value, CUdevice_attribute what,
                                CUdevice device)
{
  CUresult code = emu_enter(EMU_DeviceGetAttribute, 0);
  if (code) return code;
  code = check(device);
  return emu_leave(code ? code : find_fact((int)what, value));
}

static const char *code_name(CUresult code)
{
#define NAME(name, value) \
  if ((value) == (int)code && strncmp(#name, "CUDA_", 5) == 0) return #name;
  TN_CUDA_CONSTANTS(NAME)
#undef NAME
  switch ((int)code) {
    case EMU_ERROR_INVALID_CONTEXT: return "CUDA_ERROR_INVALID_CONTEXT";
    default: return NULL;
  }
}

/* Works at any time, and on any thread. */
CUresult emu_GetErrorName(CUresult code, const char **text)
{
  *text = code_name(code);
  return *text ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_GetErrorString(CUresult code, const char **text)
{
  *text = code_name(code) ? "EMULATED" : NULL;
  return *text ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_INVALID_VALUE;
}
