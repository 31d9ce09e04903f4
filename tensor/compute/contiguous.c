#include "config.h"

#include "tensor/compute/contiguous.h"

#include "tensor/compute/convert.h"

tn_status tn_tensor_move(tn_tensor *to, tn_tensor *from)
{
  return tn_tensor_convert(to, from);
}

tn_tensor *tn_tensor_contiguous(tn_tensor *t, const char *operation)
{
  if (t->is_contiguous) return tn_retain(t);
  return tn_tensor_converted(t, (tn_dtype)t->dtype, tn_tensor_shape(t),
                             operation);
}
