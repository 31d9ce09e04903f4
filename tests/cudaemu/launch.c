/* Functions and launches: kernels run in the interpreter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/access.h"
#include "tests/cudaemu/module.h"

/* Warp instructions that a kernel may take before it counts as endless. */
#define STEP_LIMIT (UINT64_C(1) << 36)

typedef struct launch {
  const emu_function *function;
  ptx_launch_config config;
  emu_command *command; /* while it runs */
  emu_allocation *recent;
  ptx_memory memory;
  _Alignas(16) unsigned char parameters[];
} launch;

/* Memory, as kernels see it */

static const order_kind kinds[] = {
  [PTX_LOAD] = ORDER_READ, [PTX_STORE] = ORDER_WRITE,
  [PTX_ATOMIC] = ORDER_ATOMIC,
};

static bool covers(const emu_allocation *a, uint64_t address, uint64_t size)
{
  return a && emu_is_live(a) && address >= a->address &&
         size <= a->address + a->bytes - address &&
         address - a->address < a->bytes;
}

/* Bytes are given one access at a time, to note each; all of the allocation
 * where nobody wants to know. */
static bool find(void *context, uint64_t address, uint64_t size,
                 ptx_access access, const ptx_place *place, ptx_span *span,
                 char *reason, size_t reason_size)
{
  launch *l = context;
  const emu_context *own = l->command->stream->context;
  emu_allocation *a = l->recent;
  if (!covers(a, address, size)) {
    a = emu_memory_at(address);
    if (!covers(a, address, size)) {
      if (!emu_memory_problem(address, size, reason, reason_size))
        snprintf(reason, reason_size, "memory freed while it was used");
      return false;
    }
    l->recent = a;
  }
  if (a->device >= 0 && a->device != own->device &&
      !(own->peers >> a->device & 1)) {
    snprintf(reason, reason_size, "memory of device %d, to which device %d "
             "has no peer access", a->device, own->device);
    return false;
  }
  emu_access(l->command, a, kinds[access], address, size, place);
  *span = (ptx_span){ address, address + size,
                      a->host + (address - a->address) };
  if (emu.settings.no_races)
    *span = (ptx_span){ a->address, a->address + a->bytes, a->host };
  return true;
}

static CUresult code_of(ptx_fault_kind kind)
{
  switch (kind) {
    case PTX_OUT_OF_BOUNDS: return TN_CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_MISALIGNED: return TN_CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_TOO_MANY_STEPS: return TN_CUDA_ERROR_LAUNCH_TIMEOUT;
    default: return TN_CUDA_ERROR_LAUNCH_FAILED;
  }
}

static CUresult run_launch(emu_command *command)
{
  launch *l = command->payload;
  ptx_fault fault;
  l->command = command;
  l->memory = (ptx_memory){ l, find };
  l->config.memory = &l->memory;
  l->config.parameters = l->parameters;
  if (emu.settings.seed)
    l->config.seed = emu_random(command->stream->number, command->step) | 1;
  if (ptx_launch(l->function->module->ptx, l->function->entry, &l->config,
                 &fault, NULL))
    return TN_CUDA_SUCCESS;
  emu_print("%s", fault.text);
  return code_of(fault.kind);
}

/* Launches */

static unsigned most_threads(const ptx_entry *entry)
{
  const unsigned *limits = entry->required_threads[0] ? entry->required_threads
                                                      : entry->max_threads;
  return limits[0] ? limits[0] * limits[1] * limits[2] : 1024;
}

static CUresult check_shape(const emu_function *f, const uint32_t grid[3],
                            const uint32_t block[3], unsigned shared)
{
  static const uint32_t grids[] = { 0x7fffffff, 65535, 65535 };
  static const uint32_t blocks[] = { 1024, 1024, 64 };
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (!grid[i] || grid[i] > grids[i] || !block[i] || block[i] > blocks[i])
      return TN_CUDA_ERROR_INVALID_VALUE;
    threads *= block[i];
  }
  if (threads > 1024 || shared > (unsigned)f->dynamic_shared)
    return TN_CUDA_ERROR_INVALID_VALUE;
  if (threads > most_threads(f->entry))
    return TN_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  for (int i = 0; i < 3; i++)
    if (f->entry->required_threads[0] &&
        block[i] != f->entry->required_threads[i])
      return TN_CUDA_ERROR_INVALID_VALUE;
  return TN_CUDA_SUCCESS;
}

static launch *new_launch(const emu_function *f, const uint32_t grid[3],
                          const uint32_t block[3], unsigned shared,
                          void *const *parameters)
{
  launch *l = calloc(1, sizeof *l + f->entry->parameter_bytes);
  if (!l) return NULL;
  l->function = f;
  l->config.dynamic_shared = shared;
  l->config.step_limit = STEP_LIMIT;
  memcpy(l->config.grid, grid, sizeof l->config.grid);
  memcpy(l->config.block, block, sizeof l->config.block);
  for (unsigned i = 0; i < f->entry->parameter_count; i++)
    memcpy(l->parameters + f->entry->parameters[i].offset, parameters[i],
           f->entry->parameters[i].size);
  return l;
}

static CUresult queue(const emu_function *f, const uint32_t grid[3],
                      const uint32_t block[3], unsigned shared,
                      CUstream handle, void *const *parameters)
{
  char what[160];
  emu_stream *stream = emu_stream_find(handle);
  if (!stream || stream->context != emu_current() ||
      f->module->context != stream->context)
    return TN_CUDA_ERROR_INVALID_HANDLE;
  CUresult code = check_shape(f, grid, block, shared);
  if (code) return code;
  if (f->entry->parameter_count && !parameters)
    return TN_CUDA_ERROR_INVALID_VALUE;
  launch *l = new_launch(f, grid, block, shared, parameters);
  if (!l) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  snprintf(what, sizeof what, "kernel %.140s", f->entry->name);
  return emu_enqueue(stream, what, run_launch, l, free);
}

CUresult emu_LaunchKernel(CUfunction function, unsigned grid_x,
                          unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared,
                          CUstream stream, void **parameters, void **extra)
{
  CUresult code = emu_enter(EMU_LaunchKernel, EMU_CONTEXT);
  if (code) return code;
  const emu_function *f = emu_function_find(function);
  if (!f) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  if (extra) {
    emu_print("cuLaunchKernel: \"extra\" is not emulated");
    return emu_leave(parameters ? TN_CUDA_ERROR_INVALID_VALUE
                                : TN_CUDA_ERROR_NOT_SUPPORTED);
  }
  const uint32_t grid[] = { grid_x, grid_y, grid_z };
  const uint32_t block[] = { block_x, block_y, block_z };
  return emu_leave(queue(f, grid, block, shared, stream, parameters));
}

/* Functions */

static CUresult enter_function(emu_call call, CUfunction function)
{
  CUresult code = emu_enter(call, EMU_CONTEXT);
  if (code) return code;
  return emu_function_find(function) ? TN_CUDA_SUCCESS
                                     : emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
}

CUresult emu_FuncGetAttribute(int *value, CUfunction_attribute what,
                              CUfunction function)
{
  CUresult code = enter_function(EMU_FuncGetAttribute, function);
  if (code) return code;
  const ptx_entry *entry = function->entry;
  switch ((int)what) {
    case TN_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = (int)most_threads(entry);
      break;
    case TN_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = (int)entry->shared_bytes;
      break;
    case TN_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = (int)entry->local_bytes;
      break;
    case TN_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->dynamic_shared;
      break;
    default:
      emu_print("function attribute %d is not emulated", (int)what);
      code = TN_CUDA_ERROR_INVALID_VALUE;
  }
  return emu_leave(code);
}

CUresult emu_FuncSetAttribute(CUfunction function, CUfunction_attribute what,
                              int value)
{
  CUresult code = enter_function(EMU_FuncSetAttribute, function);
  if (code) return code;
  int most = emu_shared_limit() - (int)function->entry->shared_bytes;
  if ((int)what != TN_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value < 0 || value > most)
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  function->dynamic_shared = value;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_FuncLoad(CUfunction function)
{
  CUresult code = enter_function(EMU_FuncLoad, function);
  return code ? code : emu_leave(TN_CUDA_SUCCESS);
}

/* By threads, shared memory and a fixed 16 blocks: registers are not known. */
CUresult emu_OccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                       CUfunction function,
                                                       int block,
                                                       size_t shared)
{
  CUresult code =
      enter_function(EMU_OccupancyMaxActiveBlocksPerMultiprocessor, function);
  if (code) return code;
  if (!blocks || block <= 0) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  size_t used = shared + function->entry->shared_bytes;
  size_t most = (size_t)emu_shared_limit();
  int warps = (block + 31) / 32, count = warps > 32 ? 0 : 32 / warps;
  if (count > 16) count = 16;
  if (used > most) count = 0;
  else if (used && most / used < (size_t)count) count = (int)(most / used);
  *blocks = count;
  return emu_leave(TN_CUDA_SUCCESS);
}
