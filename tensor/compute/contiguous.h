/* Copies in row order. */
#ifndef TN_TENSOR_COMPUTE_CONTIGUOUS_H
#define TN_TENSOR_COMPUTE_CONTIGUOUS_H

#include "tensor/tensor/tensor.h"

/* The tensor itself, retained, if it is contiguous, else a new one of the same
 * elements, without history. Of the caller, in no scope. */
tn_tensor *tn_tensor_contiguous(tn_tensor *t, const char *operation);

/* to = from, of the same shape, dtype and place, whatever their layouts. */
tn_status tn_tensor_move(tn_tensor *to, tn_tensor *from);

#endif
