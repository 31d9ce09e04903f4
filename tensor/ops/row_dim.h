/* Operations along one dimension that are computed on rows. */
#ifndef TN_TENSOR_OPS_ROW_DIM_H
#define TN_TENSOR_OPS_ROW_DIM_H

#include "tensor/tensor/tensor.h"

/* t with dimension `dim` last and without gaps: t itself (retained) or a copy.
 * Of the caller; without history. */
tn_tensor *tn_row_operand(tn_tensor *t, int dim, const char *operation);

/* A result of such rows in the shape that t had, dim being where it was,
 * without gaps. Takes over the reference; NULL is passed on. */
tn_tensor *tn_row_result(tn_tensor *rows, int dim, const char *operation);

#endif
