/* Host functions: work of streams that the host does. */
#include <stdlib.h>

#include "tests/cudaemu/capture.h"
#include "tests/cudaemu/host.h"
#include "tests/cudaemu/launch.h"
#include "tests/cudaemu/thread.h"

static CUresult call(emu_command *command)
{
  const CUDA_HOST_NODE_PARAMS *wanted = command->payload;
  pthread_mutex_lock(&emu.lock);
  emu_host_learn(&command->clock);
  pthread_mutex_unlock(&emu.lock);
  emu_here.is_called_back = true;
  wanted->fn(wanted->userData);
  emu_here.is_called_back = false;
  pthread_mutex_lock(&emu.lock);
  emu_host_teach(&command->clock);
  emu_host_teach(&command->stream->passed);
  pthread_mutex_unlock(&emu.lock);
  return TN_CUDA_SUCCESS;
}

static const emu_form form = {
  .type = TN_CU_GRAPH_NODE_TYPE_HOST, .run = call,
};

static CUDA_HOST_NODE_PARAMS *copy_of(const CUDA_HOST_NODE_PARAMS *wanted)
{
  CUDA_HOST_NODE_PARAMS *copy = malloc(sizeof *copy);
  if (copy) *copy = *wanted;
  return copy;
}

CUresult emu_call_work(const CUDA_HOST_NODE_PARAMS *wanted,
                       emu_context *context, emu_work **work)
{
  if (!wanted || !wanted->fn) return TN_CUDA_ERROR_INVALID_VALUE;
  CUDA_HOST_NODE_PARAMS *copy = copy_of(wanted);
  if (!copy) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  *work = emu_work_make(&form, "a host function", context, copy);
  return *work ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult emu_LaunchHostFunc(CUstream handle, CUhostFn function, void *data)
{
  emu_stream *stream;
  emu_work *work = NULL;
  const CUDA_HOST_NODE_PARAMS wanted = { function, data };
  CUresult code = emu_enter_stream(EMU_LaunchHostFunc, 0, handle, &stream);
  if (code) return code;
  code = emu_capture_admit(stream);
  if (code) return emu_leave(code);
  if (!function) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if (stream->capture) {
    code = emu_call_work(&wanted, stream->context, &work);
    return emu_leave(code ? code : emu_capture_add(stream, work));
  }
  CUDA_HOST_NODE_PARAMS *copy = copy_of(&wanted);
  if (!copy) return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  return emu_leave(emu_enqueue(stream, "a host function", call, copy, free));
}

CUresult emu_GraphHostNodeGetParams(CUgraphNode node,
                                    CUDA_HOST_NODE_PARAMS *wanted)
{
  CUresult code = emu_enter(EMU_GraphHostNodeGetParams, 0);
  if (code) return code;
  if (!wanted || !emu_is_node(node) || node->work->form != &form)
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *wanted = *(const CUDA_HOST_NODE_PARAMS *)node->work->payload;
  return emu_leave(TN_CUDA_SUCCESS);
}
