#include "config.h"

#include "tensor/nn/optim_capture.h"

#include <stdlib.h>

/* A captured launch. */
typedef struct captured_step {
  tn_optim *optim;            /* referenced */
  const tn_optim_pack *packs; /* to be told from those made later */
  int pack, first;
  int32_t which;
  size_t node, argument;
} captured_step;

static tn_status set_numbers(tn_graph *graph, const captured_step *of)
{
  const tn_optim_pack *pack = &of->optim->packs[of->pack];
  const tn_optim_member *member =
      &of->optim->members[pack->members[of->first]];
  tn_arg args[TN_ARGS_MAX];
  int count = of->optim->kind->numbers(of->optim, member->steps + 1,
                                       pack->dtype, args);
  tn_status status = TN_OK;
  for (int i = 0; i < count && status == TN_OK; i++)
    status = tn_graph_set_argument(graph, of->node, of->argument + (size_t)i,
                                   args[i]);
  return status;
}

static tn_status before_replay(tn_graph *graph, void *argument)
{
  const captured_step *of = argument;
  tn_optim *optim = of->optim;
  if (optim->packs != of->packs)
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: parameters have moved since "
                        "the step was captured", optim->kind->name);
  tn_status status = set_numbers(graph, of);
  if (status != TN_OK) return status;
  const tn_optim_pack *pack = &optim->packs[of->pack];
  for (int i = 0; i < pack->count; i++)
    if (of->which >> i & 1) optim->members[pack->members[i]].steps++;
  return TN_OK;
}

static void forget(void *argument)
{
  captured_step *of = argument;
  tn_optim_release(of->optim);
  free(of);
}

tn_status tn_optim_capture(tn_graph *graph, tn_optim *optim, int pack,
                           int first, int32_t which, size_t argument)
{
  captured_step *of = malloc(sizeof *of);
  if (!of)
    return tn_set_error(TN_OUT_OF_MEMORY, "%s: no host memory to capture a "
                        "step", optim->kind->name);
  *of = (captured_step){ tn_optim_retain(optim), optim->packs, pack, first,
                         which, 0, argument };
  tn_status status = tn_capturing_node(optim->packs[pack].place->device,
                                       &of->node);
  if (status == TN_OK)
    status = tn_graph_on_replay(graph, before_replay, of, forget);
  if (status != TN_OK) forget(of);
  return status;
}
