/* Changes of instantiated graphs: for launches from then on. */
#include "tests/cudaemu/exec.h"
#include "tests/cudaemu/launch.h"

static CUresult enter_node(emu_call call, CUgraphExec exec, CUgraphNode node,
                           emu_exec_node **found)
{
  CUresult code = emu_enter(call, EMU_CONTEXT);
  if (code) return code;
  *found = emu_is_exec(exec) ? emu_exec_find(exec, node) : NULL;
  return *found ? TN_CUDA_SUCCESS : emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
}

/* An update's result. */
static int check(const emu_work *had, const emu_work *wanted, bool is_for_all)
{
  if (had->form != wanted->form)
    return TN_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (had->form->refuse) {
    int result = had->form->refuse(had->payload, wanted->payload,
                                   is_for_all);
    if (result) return result;
  }
  return had->context == wanted->context
             ? TN_CU_GRAPH_EXEC_UPDATE_SUCCESS
             : TN_CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/* Takes over the work. */
static CUresult replace(emu_exec_node *node, emu_work *work)
{
  if (check(node->work, work, false)) {
    emu_work_drop(work);
    return TN_CUDA_ERROR_INVALID_VALUE;
  }
  emu_work_drop(node->work);
  node->work = work;
  return TN_CUDA_SUCCESS;
}

CUresult
emu_GraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                 const CUDA_KERNEL_NODE_PARAMS *parameters)
{
  emu_exec_node *found;
  emu_work *work = NULL;
  CUresult code =
      enter_node(EMU_GraphExecKernelNodeSetParams, exec, node, &found);
  if (code) return code;
  code = emu_launch_work(parameters, &work);
  return emu_leave(code ? code : replace(found, work));
}

CUresult emu_GraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                          const CUDA_MEMCPY3D *copy,
                                          CUcontext context)
{
  emu_exec_node *found;
  emu_work *work = NULL;
  CUresult code =
      enter_node(EMU_GraphExecMemcpyNodeSetParams, exec, node, &found);
  if (code) return code;
  if (!emu_is_context(context))
    return emu_leave((CUresult)EMU_ERROR_INVALID_CONTEXT);
  code = emu_copy_work(copy, context, &work);
  return emu_leave(code ? code : replace(found, work));
}

CUresult
emu_GraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                 const CUDA_MEMSET_NODE_PARAMS *fill,
                                 CUcontext context)
{
  emu_exec_node *found;
  emu_work *work = NULL;
  CUresult code =
      enter_node(EMU_GraphExecMemsetNodeSetParams, exec, node, &found);
  if (code) return code;
  if (!emu_is_context(context))
    return emu_leave((CUresult)EMU_ERROR_INVALID_CONTEXT);
  code = emu_fill_work(fill, context, &work);
  return emu_leave(code ? code : replace(found, work));
}

CUresult emu_GraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_HOST_NODE_PARAMS *call)
{
  emu_exec_node *found;
  emu_work *work = NULL;
  CUresult code =
      enter_node(EMU_GraphExecHostNodeSetParams, exec, node, &found);
  if (code) return code;
  code = emu_call_work(call, found->work->context, &work);
  return emu_leave(code ? code : replace(found, work));
}

/* All at once */

/* Nodes are paired as they were captured. */
static void compare(const emu_exec *exec, const emu_graph *graph, size_t i,
                    CUgraphExecUpdateResultInfo *info)
{
  const emu_exec_node *had = exec->nodes + i;
  emu_node *node = graph->nodes.list[i];
  info->errorNode = node;
  info->result = (CUgraphExecUpdateResult)
      TN_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  if (node->before.count != had->before_count) return;
  for (size_t j = 0; j < had->before_count; j++)
    if (node->before.list[j]->number != had->before[j] + 1) {
      info->errorFromNode = node->before.list[j];
      return;
    }
  info->result = (CUgraphExecUpdateResult)check(had->work, node->work,
                                                 true);
  if (!info->result) info->errorNode = NULL;
}

static CUresult update(emu_exec *exec, const emu_graph *graph,
                       CUgraphExecUpdateResultInfo *info)
{
  *info = (CUgraphExecUpdateResultInfo){ 0 };
  if (exec->count != graph->nodes.count)
    info->result = (CUgraphExecUpdateResult)
        TN_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t i = 0; i < exec->count && !info->result; i++)
    compare(exec, graph, i, info);
  if (info->result) return TN_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  for (size_t i = 0; i < exec->count; i++) {
    emu_work *work = emu_work_keep(graph->nodes.list[i]->work);
    emu_work_drop(exec->nodes[i].work);
    exec->nodes[i].work = work;
  }
  return TN_CUDA_SUCCESS;
}

CUresult emu_GraphExecUpdate(CUgraphExec exec, CUgraph graph,
                             CUgraphExecUpdateResultInfo *result)
{
  CUresult code = emu_enter(EMU_GraphExecUpdate, EMU_CONTEXT);
  if (code) return code;
  if (!result || !emu_is_exec(exec) || !emu_is_graph(graph) ||
      graph->is_capturing) {
    if (result)
      result->result =
          (CUgraphExecUpdateResult)TN_CU_GRAPH_EXEC_UPDATE_ERROR;
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  }
  return emu_leave(update(exec, graph, result));
}
