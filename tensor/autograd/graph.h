/* Nodes and what connects them: for tensor/autograd alone. */
#ifndef TN_TENSOR_AUTOGRAD_GRAPH_H
#define TN_TENSOR_AUTOGRAD_GRAPH_H

#include "tensor/autograd/history.h"
#include "tensor/autograd/node.h"

/* An input of a node: where its gradient goes, and what it must look like. */
typedef struct tn_edge {
  tn_node *node;            /* referenced; NULL: a leaf, or no gradient */
  tn_tensor *leaf;          /* referenced; NULL: a node, or no gradient */
  int output;               /* of the node */
  uint8_t dtype, ndim;
  bool is_wanted;
  const int64_t *sizes;     /* in the memory of the node it was made for */
  tn_place *place;
  const tn_tensor *source;  /* to be told apart only: may be gone */
} tn_edge;

typedef struct tn_saved {
  tn_tensor *tensor;        /* referenced: a view that nobody else has, or a
                             * leaf; NULL: saved as NULL, or forgotten */
  const tn_tensor *source;  /* what was saved, to be told apart only */
  tn_node *node;            /* that made it, referenced unless is_output */
  int output;
  unsigned version;         /* of the storage */
  bool is_output;           /* of the node itself */
} tn_saved;

/* What a gradient of an output must look like where there is none. */
typedef struct tn_node_output {
  tn_place *place;
  uint8_t dtype, ndim;
  int64_t sizes[TN_DIMS_MAX];
} tn_node_output;

#define TN_SAVED_INLINE 3
#define TN_DATA_INLINE 72 /* a shape and a number */

/* One piece of memory in the usual case: the edges' sizes follow them. */
struct tn_node {
  tn_refs refs;
  bool is_failed;           /* a part of it found no memory */
  bool is_freed;            /* saved tensors are gone: a pass was made */
  bool has_forgotten;       /* kind->forget was called */
  bool is_wrapped;          /* by a node of the base of the view that it
                             * changed: that one is the tensor's */
  int input_count, output_count, saved_count, saved_capacity;
  const tn_node_kind *kind;
  uint64_t sequence;        /* more than those of the nodes at its edges */
  tn_place *place;          /* of the first output */
  tn_stream *stream;        /* that it ran on, referenced */
  tn_stream *far_stream;    /* the current one of an input's device, if that
                             * is another one; referenced */
  tn_node *next;            /* in a list of nodes to free */
  void *data;
  tn_node_output *outputs;  /* of several; NULL: one */
  tn_kept_grad *kept;
  tn_saved *saved;
  tn_saved saved_inline[TN_SAVED_INLINE];
  tn_history history;       /* of the first output, if it is new */
  _Alignas(8) char data_inline[TN_DATA_INLINE];
  tn_edge edges[];
};

tn_node *tn_node_retain(tn_node *node);
void tn_node_release(tn_node *node); /* NULL too */

/* Gives back what it saved and its data's, after its formula has run. */
void tn_node_forget(tn_node *node);

/* An edge to what made t (which may be NULL). */
bool tn_edge_set(tn_edge *edge, tn_tensor *t);
void tn_edge_clear(tn_edge *edge);

/* Notes of what form the outputs are. */
bool tn_node_describe(tn_node *node, tn_tensor *const *outputs, int count);

/* Makes t an output of the node; without effect where t has integers. */
bool tn_node_attach(tn_node *node, tn_tensor *t, int output);

/* Notes, once, the streams that an operation with this output runs on. */
void tn_node_place(tn_node *node, const tn_tensor *output);

/* What was saved as an output, or is t where that is a new tensor, is the
 * node's own and of the present version. */
void tn_node_adopt_saved(tn_node *node, const tn_tensor *t, int output,
                         bool is_new);

#endif
