/* One step of training: as it is, as a whole in a graph, or with the model's
 * passes in graphs. The losses are the same. */
#ifndef CHARLM_STEPPER_H
#define CHARLM_STEPPER_H

#include <tenon/tenon.h>

typedef enum step_mode { STEP_EAGER, STEP_GRAPH, STEP_CALLABLE } step_mode;

typedef struct step_size {
  int64_t batch, context, kinds; /* of characters */
} step_size;

typedef struct stepper {
  step_mode mode;
  step_size size;
  tn_device device;
  tn_nn_module *model; /* borrowed, as is the next */
  tn_optim *optim;
  tn_tensor *input, *target; /* referenced: where graphs read a batch */
  tn_callable eager, graphed;
  tn_graph *graph;
  tn_stream *stream;
  tn_tensor *loss; /* of the graph, referenced */
  int64_t taken;
} stepper;

/* False with the library's error set; step_close is due either way. */
bool step_open(stepper *s, step_mode mode, const step_size *size,
               tn_nn_module *model, tn_optim *optim, tn_device device);
void step_close(stepper *s);

/* A batch: batch x context numbers, then as many targets. The loss; in a scope
 * of the caller's. NULL with the library's error set. */
tn_tensor *step_take(stepper *s, const int64_t *batch);

#endif
