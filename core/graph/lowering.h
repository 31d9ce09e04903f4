/* Graphs as their backend runs them: as a whole. */
#ifndef TN_CORE_GRAPH_LOWERING_H
#define TN_CORE_GRAPH_LOWERING_H

#include "core/graph/node.h"

typedef struct tn_lowering {
  tn_device_state *state;
  tn_backend_graph *handle; /* NULL once the library has ended */
  uint64_t *nodes;          /* the backend's numbers of ours */
  uint32_t *changed;        /* launches whose arguments are not the handle's */
  uint32_t change_count;
  bool *is_changed;         /* whether a node is among them */
  bool is_anew;             /* the handle is new, and knows of no runs */
  struct tn_lowering *next, *before; /* of all there are */
} tn_lowering;

/* Gives a recording to its device's backend; the caller is inside tn_enter.
 * On failure *out is NULL, and the error says which command it was.
 * TN_UNSUPPORTED: the backend does not have it in a graph. */
tn_status tn_lowering_make(tn_device_state *state, const tn_nodes *nodes,
                           tn_lowering **out);

/* Gives the backend the recording's arguments of now. Where that took another
 * graph of the backend's, it sets is_anew, as tn_lowering_make does: the
 * backend does not order the next run behind those of the former one, or those
 * that were call by call. The caller is inside tn_enter, and alone with the
 * lowering. */
tn_status tn_lowering_update(tn_lowering *lowering, const tn_nodes *nodes);

/* Queues a run; the caller as above. */
tn_status tn_lowering_run(tn_lowering *lowering, const tn_nodes *nodes,
                          tn_stream *stream);

/* The arguments of a launch changed. NULL does nothing. */
void tn_lowering_touch(tn_lowering *lowering, size_t node);

/* Runs that are queued go on. NULL does nothing. */
void tn_lowering_free(tn_lowering *lowering);

/* For forks. */
void tn_lowerings_lock(void);
void tn_lowerings_unlock(void);

/* Why these nodes cannot be given to the backend as a whole, into `text`,
 * whose first byte is 0 if they can. */
void tn_lowering_doubt(const tn_device_state *state, const tn_nodes *nodes,
                       char *text, size_t size);

#endif
