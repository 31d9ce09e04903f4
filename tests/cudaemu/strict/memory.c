/* Allocations, copies, fills, pinned memory. */
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/strict/strict.h"

static char bytes[4096] = "bytes of the host";

static CUdeviceptr address_of(const void *memory)
{
  return (CUdeviceptr)(uintptr_t)memory;
}

static int alloc_none(void)
{
  CUdeviceptr address;
  return (int)cu.MemAlloc(&address, 0);
}

static int alloc_much(void)
{
  CUdeviceptr address;
  return (int)cu.MemAlloc(&address, (size_t)1 << 46);
}

/* All of it, and then some more. */
static int alloc_all(void)
{
  CUdeviceptr address;
  size_t now, total;
  take(40u << 20);
  cu.MemGetInfo(&now, &total);
  if (now > total - (40u << 20)) return -1;
  return (int)cu.MemAlloc(&address, now + 1);
}

static int alignment(void)
{
  for (int i = 0; i < 20; i++)
    if (take(1) % 256) return 1;
  return 0;
}

static int free_twice(void)
{
  CUdeviceptr memory = take(100);
  cu.MemFree(memory);
  return (int)cu.MemFree(memory);
}

static int free_inside(void) { return (int)cu.MemFree(take(1000) + 256); }
static int free_host(void) { return (int)cu.MemFreeHost(bytes); }

static int read_on_host(void)
{
  return *(volatile int *)(uintptr_t)take(64);
}

static int write_on_host(void)
{
  *(volatile int *)(uintptr_t)take(64) = 1;
  return 0;
}

static int copy_beyond(void)
{
  return (int)cu.MemcpyHtoDAsync(take(100), bytes, 101, streams[0]);
}

static int copy_within(void)
{
  return (int)cu.MemcpyHtoDAsync(take(100) + 1, bytes, 99, streams[0]);
}

static int copy_nothing(void)
{
  return (int)cu.MemcpyHtoDAsync(take(100), bytes, 0, streams[0]);
}

static int copy_freed(void)
{
  CUdeviceptr memory = take(100);
  cu.MemFree(memory);
  return (int)cu.MemcpyDtoHAsync(bytes, memory, 100, streams[0]);
}

static int copy_to_host_address(void)
{
  return (int)cu.MemcpyHtoDAsync(address_of(bytes), bytes, 8, streams[0]);
}

static int copy_part_pinned(void)
{
  char *memory = aligned_alloc(4096, 8192);
  cu.MemHostRegister(memory, 4096, 1);
  return (int)cu.MemcpyHtoDAsync(take(8192), memory, 8192, streams[0]);
}

/* Freed between the call and its turn: the double may wait in cuMemFree, so
 * the seed says that it does not. */
static int freed_before_turn(void)
{
  CUdeviceptr memory = take(4096);
  uint32_t *gate = shut(streams[0]);
  cu.MemsetD8Async(memory, 1, 4096, streams[0]);
  int code = (int)cu.MemFree(memory);
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
  return code ? -code : finish(streams[0]);
}

static int copy_late(const void *source, char *from)
{
  char got[16];
  CUdeviceptr memory = take(16);
  uint32_t *gate = shut(streams[0]);
  strcpy(from, "early");
  int code = (int)cu.MemcpyHtoDAsync(memory, source, 16, streams[0]);
  strcpy(from, "late");
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
  if (!code) code = (int)cu.MemcpyDtoHAsync(got, memory, 16, streams[0]);
  if (!code) code = finish(streams[0]);
  return code ? -code : strcmp(got, "late") == 0;
}

static int pageable_source(void) { return copy_late(bytes, bytes); }

static int pinned_source(void)
{
  char *pinned = (char *)take_pinned(16);
  return copy_late(pinned, pinned);
}

static int registered_source(void)
{
  char *memory = aligned_alloc(4096, 4096);
  cu.MemHostRegister(memory, 4096, 1);
  return copy_late(memory + 8, memory + 8);
}

static int fill_misaligned(void)
{
  return (int)cu.MemsetD32Async(take(100) + 2, 1, 4, streams[0]);
}

static int fill_beyond(void)
{
  return (int)cu.MemsetD32Async(take(100), 1, 26, streams[0]);
}

static int fill_pitch(void)
{
  return (int)cu.MemsetD2D32Async(take(100), 4, 1, 2, 3, streams[0]);
}

static CUDA_MEMCPY3D rows(void)
{
  return (CUDA_MEMCPY3D){
    .srcMemoryType = TN_CU_MEMORYTYPE_HOST, .srcHost = bytes, .srcPitch = 16,
    .srcHeight = 4, .dstMemoryType = TN_CU_MEMORYTYPE_DEVICE,
    .dstDevice = take(256), .dstPitch = 32, .dstHeight = 4,
    .WidthInBytes = 16, .Height = 4, .Depth = 2,
  };
}

static int rows_right(void)
{
  CUDA_MEMCPY3D copy = rows();
  return (int)cu.Memcpy3DAsync(&copy, streams[0]);
}

static int rows_overlap(void)
{
  CUDA_MEMCPY3D copy = rows();
  copy.dstPitch = 15;
  return (int)cu.Memcpy3DAsync(&copy, streams[0]);
}

static int planes_overlap(void)
{
  CUDA_MEMCPY3D copy = rows();
  copy.dstHeight = 3;
  return (int)cu.Memcpy3DAsync(&copy, streams[0]);
}

static int rows_beyond(void)
{
  CUDA_MEMCPY3D copy = rows();
  copy.dstPitch = 35;
  return (int)cu.Memcpy3DAsync(&copy, streams[0]);
}

static int register_twice(void)
{
  char *memory = aligned_alloc(4096, 8192);
  cu.MemHostRegister(memory, 8192, 1);
  return (int)cu.MemHostRegister(memory + 4096, 4096, 1);
}

static int unregister_unknown(void)
{
  return (int)cu.MemHostUnregister(bytes);
}

static int unregister_allocated(void)
{
  return (int)cu.MemHostUnregister(take_pinned(4096));
}

static int type_of(CUdeviceptr address)
{
  unsigned type = 0;
  CUresult code = cu.PointerGetAttribute(
      &type, (CUpointer_attribute)TN_CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
      address);
  return code ? (int)code : 100 + (int)type;
}

static int type_pageable(void) { return type_of(address_of(bytes)); }
static int type_pinned(void) { return type_of(address_of(take_pinned(8))); }
static int type_device(void) { return type_of(take(8) + 4); }

/* Device 1's memory, by its own context; a copy needs no peer access. */
static CUdeviceptr take_second(size_t size)
{
  cu.CtxSetCurrent(contexts[1]);
  CUdeviceptr memory = take(size);
  cu.CtxSetCurrent(contexts[0]);
  return memory;
}

static int peer_copy(void)
{
  int code = (int)cu.MemcpyPeerAsync(take_second(64), contexts[1], take(64),
                                     contexts[0], 64, streams[0]);
  return code ? -code : finish(streams[0]);
}

static int peer_copy_swapped(void)
{
  return (int)cu.MemcpyPeerAsync(take_second(64), contexts[0], take(64),
                                 contexts[1], 64, streams[0]);
}

static const strict_case cases[] = {
  { "an allocation of no bytes", DOCUMENTED, 1, .run = alloc_none },
  { "an allocation beyond all memory", DOCUMENTED, 2, .run = alloc_much },
  { "an allocation beyond what is free", DOCUMENTED, 2, .run = alloc_all },
  { "addresses are multiples of 256", DOCUMENTED, 0, .run = alignment },
  { "memory is freed twice", ASSUMED, 1, .run = free_twice, "which was freed" },
  { "memory is freed from its middle", ASSUMED, 1, .run = free_inside },
  { "pageable memory is freed as pinned", ASSUMED, 1, .run = free_host },
  { "the host reads device memory", ASSUMED, -11, .run = read_on_host },
  { "the host writes device memory", ASSUMED, -11, .run = write_on_host },
  { "a copy one byte beyond the end", ASSUMED, 1, .run = copy_beyond,
    "bytes 0 to 100 of allocation 1, of 100 bytes" },
  { "a copy to the last byte", DOCUMENTED, 0, .run = copy_within },
  { "a copy of nothing", ASSUMED, 0, .run = copy_nothing },
  { "a copy from freed memory", ASSUMED, 1,
    .run = copy_freed, "which was freed" },
  { "a copy to the host's memory as the device's", ASSUMED, 1,
    .run = copy_to_host_address, "memory of the host that is not pinned" },
  { "a copy from memory that is half pinned", ASSUMED, 1,
    .run = copy_part_pinned },
  { "memory is freed before a fill's turn", OURS, 700, .run = freed_before_turn,
    "use after free: a fill on stream 1", "TENON_CUDAEMU_SEED=0" },
  { "a pageable source is the caller's again at return", DOCUMENTED, 0,
    .run = pageable_source },
  { "a pinned source is read in its turn", DOCUMENTED, 1,
    .run = pinned_source },
  { "so is a registered one", DOCUMENTED, 1, .run = registered_source },
  { "a fill of words at half a word", ASSUMED, 1, .run = fill_misaligned },
  { "a fill beyond the end", ASSUMED, 1, .run = fill_beyond },
  { "a fill of rows that overlap", ASSUMED, 1, .run = fill_pitch },
  { "a copy of rows", DOCUMENTED, 0, .run = rows_right },
  { "a copy of rows that overlap", DOCUMENTED, 1, .run = rows_overlap },
  { "a copy of planes that overlap", DOCUMENTED, 1, .run = planes_overlap },
  { "a copy of rows beyond the end", ASSUMED, 1, .run = rows_beyond },
  { "memory is registered twice", DOCUMENTED, 712, .run = register_twice },
  { "memory is unregistered that was not registered", DOCUMENTED, 713,
    .run = unregister_unknown },
  { "memory is unregistered that the driver allocated", ASSUMED, 713,
    .run = unregister_allocated },
  { "the type of pageable memory", ASSUMED, 1, .run = type_pageable },
  { "the type of pinned memory", DOCUMENTED, 101, .run = type_pinned },
  { "the type of device memory", DOCUMENTED, 102, .run = type_device },
  { "a copy between devices without peer access", DOCUMENTED, 0,
    .run = peer_copy,
    .devices = 2 },
  { "a copy between devices with contexts mixed up", ASSUMED, 1,
    .run = peer_copy_swapped, .devices = 2 },
};

void strict_memory(void) { STRICT_RUN(cases); }
