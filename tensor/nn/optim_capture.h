/* Steps of optimisers in graphs: each replay is the next step. */
#ifndef TN_TENSOR_NN_OPTIM_CAPTURE_H
#define TN_TENSOR_NN_OPTIM_CAPTURE_H

#include "tenon/graph.h"
#include "tensor/nn/optim.h"

/* After a launch for members `which` of a pack (`first` is one of them) that
 * was captured into the graph: before each replay its arguments from
 * `argument` on become the numbers of the step to come. */
tn_status tn_optim_capture(tn_graph *graph, tn_optim *optim, int pack,
                           int first, int32_t which, size_t argument);

#endif
