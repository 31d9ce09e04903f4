/* Modules, launches, and what kernels do wrong. */
#include <stdio.h>
#include <string.h>

#include "tests/cudaemu/strict/strict.h"

static int load(const char *text)
{
  CUmodule module;
  char log[512] = "";
  CUjit_option options[] = { TN_CU_JIT_ERROR_LOG_BUFFER,
                             TN_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
  void *values[] = { log, (void *)(uintptr_t)sizeof log };
  int code = (int)cu.ModuleLoadDataEx(&module, text, 2, options, values);
  fprintf(stderr, "log: %s\n", log);
  return code;
}

static int module_wrong(void)
{
  return load(".version 6.3\n.target sm_75\n.address_size 64\n"
              ".visible .entry f()\n{ frobnicate.u32 1; ret; }\n");
}

static int module_new(void)
{
  return load(".version 9.0\n.target sm_75\n.address_size 64\n"
              ".visible .entry f()\n{ ret; }\n");
}

static int module_target(void)
{
  return load(".version 8.0\n.target sm_90\n.address_size 64\n"
              ".visible .entry f()\n{ ret; }\n");
}

static int module_machine(void) { return load("\x7f" "ELF"); }

static CUmodule module_of(void)
{
  CUmodule module = NULL;
  cu.ModuleLoadDataEx(&module, ".version 6.3\n.target sm_75\n"
                      ".address_size 64\n.global .u32 known = 7;\n"
                      ".visible .entry f()\n{ ret; }\n", 0, NULL, NULL);
  return module;
}

static int function_unknown(void)
{
  CUfunction function;
  return (int)cu.ModuleGetFunction(&function, module_of(), "unknown");
}

static int global_unknown(void)
{
  CUdeviceptr address;
  size_t bytes;
  return (int)cu.ModuleGetGlobal(&address, &bytes, module_of(), "unknown");
}

static int global_known(void)
{
  CUdeviceptr address = 0;
  size_t bytes = 0;
  uint32_t word = 0;
  cu.ModuleGetGlobal(&address, &bytes, module_of(), "known");
  cu.MemcpyDtoHAsync(&word, address, bytes, streams[0]);
  finish(streams[0]);
  return (int)word;
}

static int module_twice(void)
{
  CUmodule module = module_of();
  cu.ModuleUnload(module);
  return (int)cu.ModuleUnload(module);
}

static int function_unloaded(void)
{
  CUmodule module = module_of();
  CUfunction function = NULL;
  cu.ModuleGetFunction(&function, module, "f");
  cu.ModuleUnload(module);
  return (int)launch(function, 1, 1, streams[0], 0, 0);
}

static int shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                 unsigned by, unsigned bz, unsigned shared)
{
  int code = (int)cu.LaunchKernel(take_function("nothing"), gx, gy, gz, bx,
                                  by, bz, shared, streams[0], NULL, NULL);
  return code ? code : finish(streams[0]);
}

static int grid_none(void) { return shape(1, 0, 1, 1, 1, 1, 0); }
static int grid_high(void) { return shape(1, 65536, 1, 1, 1, 1, 0); }
static int grid_deep(void) { return shape(1, 1, 65536, 1, 1, 1, 0); }
static int grid_wide(void) { return shape(0x80000000u, 1, 1, 1, 1, 1, 0); }
static int grid_most(void) { return shape(1, 65535, 1, 1, 1, 1, 0); }
static int block_none(void) { return shape(1, 1, 1, 0, 1, 1, 0); }
static int block_large(void) { return shape(1, 1, 1, 1025, 1, 1, 0); }
static int block_product(void) { return shape(1, 1, 1, 64, 32, 1, 0); }
static int block_deep(void) { return shape(1, 1, 1, 1, 1, 65, 0); }
static int block_most(void) { return shape(1, 1, 1, 32, 32, 1, 0); }
static int shared_more(void) { return shape(1, 1, 1, 1, 1, 1, 49153); }
static int shared_most(void) { return shape(1, 1, 1, 1, 1, 1, 49152); }

static int shared_allowed(void)
{
  CUfunction f = take_function("nothing");
  CUresult code = cu.FuncSetAttribute(
      f, TN_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10);
  if (code) return -(int)code;
  code = cu.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 64 << 10, streams[0], NULL,
                         NULL);
  return code ? (int)code : finish(streams[0]);
}

static int shared_beyond(void)
{
  return (int)cu.FuncSetAttribute(
      take_function("nothing"),
      TN_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20);
}

static int block_bounded(void)
{
  return (int)launch(take_function("small"), 1, 64, streams[0], 0, 0);
}

static int both_ways(void)
{
  void *parameters[1] = { NULL }, *extra[1] = { NULL };
  return (int)cu.LaunchKernel(take_function("nothing"), 1, 1, 1, 1, 1, 1, 0,
                              streams[0], parameters, extra);
}

static int foreign_stream(void)
{
  CUfunction f = take_function("nothing");
  CUstream other;
  cu.CtxSetCurrent(contexts[1]);
  cu.StreamCreateWithPriority(&other, 1, 0);
  cu.CtxSetCurrent(contexts[0]);
  return (int)launch(f, 1, 1, other, 0, 0);
}

/* Faults */

static int put(uint64_t to, uint64_t offset, unsigned block)
{
  CUresult code = launch(take_function("put"), 1, block, streams[0], to,
                         offset);
  return code ? -(int)code : finish(streams[0]);
}

static int put_right(void) { return put(take(128), 0, 32); }
static int put_beyond(void) { return put(take(128), 0, 33); }
static int put_before(void) { return put(take(128), (uint64_t)-4, 1); }
static int put_far(void) { return put(take(128), 1 << 20, 1); }
static int put_null(void) { return put(0, 0, 1); }
static int put_misaligned(void) { return put(take(128), 2, 1); }
static int put_pinned(void)
{
  return put((uint64_t)(uintptr_t)take_pinned(128), 0, 32);
}

static int put_pageable(void)
{
  static uint32_t words[32];
  return put((uint64_t)(uintptr_t)words, 0, 1);
}

static int put_freed(void)
{
  CUdeviceptr memory = take(128);
  cu.MemFree(memory);
  return put(memory, 0, 1);
}

static CUdeviceptr take_second(void)
{
  cu.CtxSetCurrent(contexts[1]);
  CUdeviceptr memory = take(128);
  cu.CtxSetCurrent(contexts[0]);
  return memory;
}

static int put_peer(void) { return put(take_second(), 0, 1); }

static int put_enabled(void)
{
  cu.CtxEnablePeerAccess(contexts[1], 0);
  return put(take_second(), 0, 1);
}

/* One direction does not give the other. */
static int put_other_way(void)
{
  cu.CtxSetCurrent(contexts[1]);
  cu.CtxEnablePeerAccess(contexts[0], 0);
  cu.CtxSetCurrent(contexts[0]);
  return put(take_second(), 0, 1);
}

static int run(const char *name, unsigned block)
{
  CUresult code = launch(take_function(name), 1, block, streams[0], 0, 0);
  return code ? -(int)code : finish(streams[0]);
}

static int racy(void) { return run("racy", 64); }
static int half(void) { return run("half", 64); }
static int stop(void) { return run("stop", 1); }

/* How many of 64 launches end with another block, or another warp, than the
 * one before: all do the same, so any order of them is right. */
static int changes(int word, unsigned grid, unsigned block)
{
  uint32_t *got = take_pinned(8), before = 0;
  CUdeviceptr memory = take(8);
  CUfunction last = take_function("last");
  int count = 0;
  for (int i = 0; i < 64; i++) {
    launch(last, grid, block, streams[0], memory, 0);
    cu.MemcpyDtoHAsync(got, memory, 8, streams[0]);
    if (finish(streams[0])) return -1;
    count += i && got[word] != before;
    before = got[word];
  }
  return count > 10 ? 1 : count;
}

static int blocks_change(void) { return changes(0, 50, 32); }
static int warps_change(void) { return changes(1, 1, 256); }

/* Whether some launch loses counts: warps read what others are to write. */
static int counts_lost(void)
{
  uint32_t *got = take_pinned(4);
  CUdeviceptr memory = take(4);
  CUfunction count = take_function("count");
  for (int i = 0; i < 64; i++) {
    cu.MemsetD32Async(memory, 0, 1, streams[0]);
    launch(count, 1, 256, streams[0], memory, 0);
    cu.MemcpyDtoHAsync(got, memory, 4, streams[0]);
    if (finish(streams[0])) return -1;
    if (*got != 800) return 1;
  }
  return 0;
}

/* What ends a context is all it says from then on, to any call. */
static int after_fault(void)
{
  size_t now, total;
  put_null();
  return (int)cu.MemGetInfo(&now, &total);
}

static int other_stream_after(void)
{
  put_null();
  return (int)cu.StreamQuery(streams[1]);
}

static int launch_after(void)
{
  CUfunction f = take_function("nothing");
  put_null();
  return (int)launch(f, 1, 1, streams[1], 0, 0);
}

static int event_behind(void)
{
  CUevent event = NULL;
  cu.EventCreate(&event, 2);
  launch(take_function("put"), 1, 1, streams[0], 0, 0);
  cu.EventRecord(event, streams[0]);
  return (int)cu.EventSynchronize(event);
}

static int other_device_after(void)
{
  size_t now, total;
  put_null();
  cu.CtxSetCurrent(contexts[1]);
  return (int)cu.MemGetInfo(&now, &total);
}

static const strict_case module_cases[] = {
  { "PTX with an unknown instruction", DOCUMENTED, 218, .run = module_wrong,
    "log: EMULATED: line 5: " },
  { "PTX of a newer version", DOCUMENTED, 222, .run = module_new, .settings =
    "TENON_CUDAEMU_DRIVER=12.0" },
  { "the same on a newer driver", OURS, 0, .run = module_new, .settings =
    "TENON_CUDAEMU_DRIVER=13.0" },
  { "PTX for a newer device", OURS, 209, .run = module_target },
  { "machine code", OURS, 209, .run = module_machine },
  { "a function that is not there", DOCUMENTED, 500, .run = function_unknown },
  { "a variable that is not there", DOCUMENTED, 500, .run = global_unknown },
  { "a variable and its value", DOCUMENTED, 7, .run = global_known },
  { "a module is unloaded twice", ASSUMED, 400, .run = module_twice },
  { "a function of an unloaded module", ASSUMED, 400,
    .run = function_unloaded },
};

static const strict_case cases[] = {
  { "a grid of nothing", ASSUMED, 1, .run = grid_none },
  { "a grid too high", ASSUMED, 1, .run = grid_high },
  { "a grid too deep", ASSUMED, 1, .run = grid_deep },
  { "a grid too wide", ASSUMED, 1, .run = grid_wide },
  { "the highest grid", DOCUMENTED, 0, .run = grid_most },
  { "a block of nothing", ASSUMED, 1, .run = block_none },
  { "a block too wide", ASSUMED, 1, .run = block_large },
  { "a block of too many threads", ASSUMED, 1, .run = block_product },
  { "a block too deep", ASSUMED, 1, .run = block_deep },
  { "the largest block", DOCUMENTED, 0, .run = block_most },
  { "more shared memory than without asking", ASSUMED, 1, .run = shared_more },
  { "48 KiB of shared memory", DOCUMENTED, 0, .run = shared_most },
  { "more, asked for", DOCUMENTED, 0, .run = shared_allowed },
  { "more than there is, asked for", ASSUMED, 1, .run = shared_beyond },
  { "a block above the kernel's own bound", ASSUMED, 701,
    .run = block_bounded },
  { "parameters both ways", DOCUMENTED, 1, .run = both_ways },
  { "a stream of another device", DOCUMENTED, 400, .run = foreign_stream,
    .devices = 2 },
  { "a kernel that writes its memory", DOCUMENTED, 0, .run = put_right },
  { "out of bounds by one", OURS, 700, .run = put_beyond,
    "kernel put, line 11 (st.global.u32), block (0,0,0) thread (32,0,0): "
    "store of 4 bytes at 0x" },
  { "before the begin", OURS, 700, .run = put_before, "no allocation" },
  { "far out of bounds", OURS, 700, .run = put_far, "no allocation" },
  { "a null pointer", DOCUMENTED, 700, .run = put_null, "at 0x0: " },
  { "misaligned", DOCUMENTED, 716, .run = put_misaligned, "misaligned" },
  { "use after free", OURS, 700, .run = put_freed, "which was freed" },
  { "pinned memory is the kernel's too", DOCUMENTED, 0, .run = put_pinned },
  { "pageable memory is not", OURS, 700, .run = put_pageable,
    "memory of the host that is not pinned" },
  { "another device's memory", DOCUMENTED, 700, .run = put_peer,
    "memory of device 1, to which device 0 has no peer access",
    .devices = 2 },
  { "with peer access", DOCUMENTED, 0, .run = put_enabled, .devices = 2 },
  { "with peer access the other way", DOCUMENTED, 700, .run = put_other_way,
    .devices = 2 },
  { "threads that write one shared word", OURS, 719,
    .run = racy, "race: writes" },
  { "a barrier for half a block", OURS, 719, .run = half,
    "barrier 0 was reached by 32 of 64 threads" },
  { "trap", ASSUMED, 719, .run = stop, "trap" },
  { "blocks run in no order", OURS, 1, .run = blocks_change },
  { "unless asked to", OURS, 0, .run = blocks_change, .settings =
    "TENON_CUDAEMU_SEED=0" },
  { "nor do warps", OURS, 1, .run = warps_change },
  { "unless asked to", OURS, 0, .run = warps_change, .settings =
    "TENON_CUDAEMU_SEED=0" },
  { "counts of warps that do not count atomically are lost", OURS, 1,
    .run = counts_lost },
  { "any call after a fault", DOCUMENTED, 700, .run = after_fault },
  { "another stream after a fault", DOCUMENTED, 700,
    .run = other_stream_after },
  { "a launch after a fault", DOCUMENTED, 700, .run = launch_after },
  { "an event behind a fault", ASSUMED, 700, .run = event_behind },
  { "another device after a fault", ASSUMED, 0, .run = other_device_after,
    .devices = 2 },
};

void strict_launches(void)
{
  STRICT_RUN(module_cases);
  STRICT_RUN(cases);
}
