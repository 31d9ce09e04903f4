/* Functions and launches: kernels run in the interpreter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/access.h"
#include "tests/cudaemu/capture.h"
#include "tests/cudaemu/launch.h"
#include "tests/cudaemu/module.h"

/* Warp instructions that a kernel may take before it counts as endless. */
#define STEP_LIMIT (UINT64_C(1) << 36)

typedef struct launch {
  emu_function *function;
  uint32_t grid[3], block[3];
  unsigned shared;
  void **pointers; /* to the parameters, which are behind it */
  _Alignas(16) unsigned char parameters[];
} launch;

/* One run of it. */
typedef struct running {
  emu_command *command;
  emu_allocation *recent;
} running;

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
  running *l = context;
  const emu_context *own = l->command->context;
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
  running now = { command, NULL };
  ptx_memory memory = { &now, find };
  ptx_launch_config config = {
    .dynamic_shared = l->shared, .step_limit = STEP_LIMIT, .memory = &memory,
    .parameters = l->parameters,
  };
  memcpy(config.grid, l->grid, sizeof config.grid);
  memcpy(config.block, l->block, sizeof config.block);
  if (emu.settings.seed)
    config.seed = emu_random(command->stream->number |
                                 (uint64_t)command->node << 32,
                             command->step) | 1;
  if (ptx_launch(l->function->module->ptx, l->function->entry, &config,
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

static launch *new_launch(emu_function *f, const uint32_t grid[3],
                          const uint32_t block[3], unsigned shared,
                          void *const *parameters)
{
  size_t bytes = (f->entry->parameter_bytes + 15u) / 16 * 16;
  unsigned count = f->entry->parameter_count;
  launch *l = calloc(1, sizeof *l + bytes + count * sizeof *l->pointers);
  if (!l) return NULL;
  l->function = f;
  l->shared = shared;
  l->pointers = (void **)(void *)(l->parameters + bytes);
  memcpy(l->grid, grid, sizeof l->grid);
  memcpy(l->block, block, sizeof l->block);
  for (unsigned i = 0; i < count; i++) {
    l->pointers[i] = l->parameters + f->entry->parameters[i].offset;
    memcpy(l->pointers[i], parameters[i], f->entry->parameters[i].size);
  }
  return l;
}

/* A module may be gone when a graph that has its kernel is launched. */
static CUresult bind(const void *payload, void **bound)
{
  const launch *l = payload;
  *bound = NULL;
  if (!emu_function_find(l->function)) {
    emu_print("use after free: a graph has a kernel of a module that was "
              "unloaded");
    return TN_CUDA_ERROR_LAUNCH_FAILED;
  }
  return TN_CUDA_SUCCESS;
}

static int refuse(const void *payload, const void *wanted, bool is_for_all)
{
  (void)is_for_all;
  const launch *had = payload, *l = wanted;
  return l->function->module->context == had->function->module->context
             ? TN_CU_GRAPH_EXEC_UPDATE_SUCCESS
             : TN_CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
}

static const emu_form form = {
  .type = TN_CU_GRAPH_NODE_TYPE_KERNEL, .run = run_launch, .bind = bind,
  .refuse = refuse,
};

/* A launch of a function that is there. */
static CUresult make(emu_function *f, const uint32_t grid[3],
                     const uint32_t block[3], unsigned shared,
                     void *const *parameters, launch **made)
{
  CUresult code = check_shape(f, grid, block, shared);
  if (code) return code;
  if (f->entry->parameter_count && !parameters)
    return TN_CUDA_ERROR_INVALID_VALUE;
  *made = new_launch(f, grid, block, shared, parameters);
  return *made ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

static const char *title(const emu_function *f, char what[160])
{
  snprintf(what, 160, "kernel %.140s", f->entry->name);
  return what;
}

static CUresult queue(emu_function *f, const uint32_t grid[3],
                      const uint32_t block[3], unsigned shared,
                      CUstream handle, void *const *parameters)
{
  char what[160];
  launch *l = NULL;
  emu_stream *stream = emu_stream_find(handle);
  if (!stream || stream->context != emu_current() ||
      f->module->context != stream->context)
    return TN_CUDA_ERROR_INVALID_HANDLE;
  CUresult code = emu_capture_admit(stream);
  if (!code) code = make(f, grid, block, shared, parameters, &l);
  if (code) return code;
  title(f, what);
  if (!stream->capture) return emu_enqueue(stream, what, run_launch, l, free);
  return emu_capture_add(stream, emu_work_make(&form, what, stream->context,
                                               l));
}

CUresult emu_launch_work(const CUDA_KERNEL_NODE_PARAMS *wanted,
                         emu_work **work)
{
  char what[160];
  launch *l = NULL;
  if (!wanted || !wanted->func || wanted->extra) {
    emu_print("a kernel node without \"func\" or with \"extra\" is not "
              "emulated");
    return TN_CUDA_ERROR_INVALID_VALUE;
  }
  emu_function *f = emu_function_find(wanted->func);
  if (!f) return TN_CUDA_ERROR_INVALID_HANDLE;
  const uint32_t grid[] = { wanted->gridDimX, wanted->gridDimY,
                            wanted->gridDimZ };
  const uint32_t block[] = { wanted->blockDimX, wanted->blockDimY,
                             wanted->blockDimZ };
  CUresult code = make(f, grid, block, wanted->sharedMemBytes,
                       wanted->kernelParams, &l);
  if (code) return code;
  *work = emu_work_make(&form, title(f, what), f->module->context, l);
  return *work ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

static bool is_kernel(const emu_node *node)
{
  return emu_is_node(node) && node->work->form == &form;
}

CUresult emu_GraphKernelNodeGetParams(CUgraphNode node,
                                      CUDA_KERNEL_NODE_PARAMS *parameters)
{
  CUresult code = emu_enter(EMU_GraphKernelNodeGetParams, 0);
  if (code) return code;
  if (!parameters || !is_kernel(node))
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  const launch *l = node->work->payload;
  *parameters = (CUDA_KERNEL_NODE_PARAMS){
    .func = l->function, .gridDimX = l->grid[0], .gridDimY = l->grid[1],
    .gridDimZ = l->grid[2], .blockDimX = l->block[0],
    .blockDimY = l->block[1], .blockDimZ = l->block[2],
    .sharedMemBytes = l->shared, .kernelParams = l->pointers,
  };
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult
emu_GraphKernelNodeSetParams(CUgraphNode node,
                             const CUDA_KERNEL_NODE_PARAMS *parameters)
{
  emu_work *work = NULL;
  CUresult code = emu_enter(EMU_GraphKernelNodeSetParams, 0);
  if (code) return code;
  if (!is_kernel(node)) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  code = emu_launch_work(parameters, &work);
  if (code) return emu_leave(code);
  emu_work_drop(node->work);
  node->work = work;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_LaunchKernel(CUfunction function, unsigned grid_x,
                          unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared,
                          CUstream stream, void **parameters, void **extra)
{
  CUresult code = emu_enter(EMU_LaunchKernel, EMU_CONTEXT);
  if (code) return code;
  emu_function *f = emu_function_find(function);
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
