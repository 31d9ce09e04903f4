#include <inttypes.h>
#include <stdlib.h>

#include "tests/cudaemu/address.h"
#include "tests/cudaemu/stream.h"

CUresult emu_MemGetInfo(size_t *free_bytes, size_t *total)
{
  CUresult code = emu_enter(EMU_MemGetInfo, EMU_CONTEXT);
  if (code) return code;
  uint64_t used = emu_memory_used(emu_current()->device);
  if (free_bytes) *free_bytes = (size_t)(emu.settings.memory - used);
  if (total) *total = (size_t)emu.settings.memory;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_MemAlloc(CUdeviceptr *address, size_t bytes)
{
  CUresult code = emu_enter(EMU_MemAlloc, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  emu_allocation *made = NULL;
  if (!address || !bytes) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  code = emu_memory_take(emu_current()->device, bytes, &made);
  if (!code) *address = made->address;
  return emu_leave(code);
}

/* The allocation that begins there, or NULL and a line that says what is
 * there. */
static emu_allocation *find_begin(uint64_t address, bool is_host,
                                  const char *what)
{
  char problem[256];
  emu_allocation *a = emu_memory_at(address);
  if (a && emu_is_live(a) && a->address == address &&
      (a->device < 0) == is_host)
    return a;
  if (!emu_memory_problem(address, 1, problem, sizeof problem))
    problem[0] = '\0';
  emu_print("%s of 0x%" PRIx64 ": %s", what, address,
            *problem ? problem : "not what was allocated, or not its begin");
  return NULL;
}

/* The driver may wait for the device or not, so by the seed
 * every second one does; with seed 0 none. */
CUresult emu_MemFree(CUdeviceptr address)
{
  CUresult code = emu_enter(EMU_MemFree, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  emu_allocation *a = find_begin(address, false, "cuMemFree");
  if (!a) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if (emu.settings.seed && emu_random(a->number, 1) % 2) {
    emu_context_wait(emu.contexts + a->device);
    code = emu_context_tell(emu.contexts + a->device);
  }
  if (!code) emu_memory_drop(a);
  return emu_leave(code);
}

CUresult emu_MemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
  CUresult code = emu_enter(EMU_MemHostAlloc, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  if (!memory || !bytes || flags > 7)
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  void *taken = bytes > SIZE_MAX / 2
                    ? NULL
                    : aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!taken || !emu_pinned_add(taken, bytes, false)) {
    free(taken);
    return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  }
  *memory = taken;
  return emu_leave(TN_CUDA_SUCCESS);
}

static void wait_for_uses(const emu_allocation *a)
{
  while (a->uses && !emu.ended) pthread_cond_wait(&emu.progress, &emu.lock);
}

CUresult emu_MemFreeHost(void *memory)
{
  CUresult code = emu_enter(EMU_MemFreeHost, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  emu_allocation *a =
      find_begin((uint64_t)(uintptr_t)memory, true, "cuMemFreeHost");
  if (!a || a->is_registered) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  wait_for_uses(a);
  emu_memory_drop(a);
  free(memory);
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_MemHostRegister(void *memory, size_t bytes, unsigned flags)
{
  CUresult code = emu_enter(EMU_MemHostRegister, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  uint64_t address = (uint64_t)(uintptr_t)memory;
  if (!memory || !bytes || bytes > SIZE_MAX / 2 || flags > 15 ||
      emu_is_in_window(address))
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if (emu_memory_overlap(address, bytes))
    return emu_leave(TN_CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  return emu_leave(emu_pinned_add(memory, bytes, true)
                       ? TN_CUDA_SUCCESS
                       : TN_CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult emu_MemHostUnregister(void *memory)
{
  CUresult code = emu_enter(EMU_MemHostUnregister, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  emu_allocation *a =
      find_begin((uint64_t)(uintptr_t)memory, true, "cuMemHostUnregister");
  if (!a || !a->is_registered)
    return emu_leave(TN_CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  wait_for_uses(a);
  emu_memory_drop(a);
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_PointerGetAttribute(void *value, CUpointer_attribute what,
                                 CUdeviceptr address)
{
  CUresult code = emu_enter(EMU_PointerGetAttribute, EMU_CONTEXT);
  if (code) return code;
  if (!value) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if ((int)what != TN_CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
    emu_print("pointer attribute %d is not emulated", (int)what);
    return emu_leave(TN_CUDA_ERROR_NOT_SUPPORTED);
  }
  const emu_allocation *a = emu_memory_at(address);
  if (!a || !emu_is_live(a)) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *(unsigned *)value = a->device < 0 ? TN_CU_MEMORYTYPE_HOST
                                     : TN_CU_MEMORYTYPE_DEVICE;
  return emu_leave(TN_CUDA_SUCCESS);
}
