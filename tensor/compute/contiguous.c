#include "config.h"

#include "tensor/compute/contiguous.h"

#include "tensor/compute/elementwise.h"
#include "tensor/compute/indexing.h"

static tn_elementwise move_f32 = TN_ELEMENTWISE("elementwise", "copy", "f32");
static tn_elementwise move_f64 =
    TN_ELEMENTWISE("elementwise_f64", "copy", "f64");

tn_status tn_tensor_move(tn_tensor *to, tn_tensor *from)
{
  tn_elementwise *kernel = to->dtype == TN_F64 ? &move_f64 : &move_f32;
  if (!tn_dtype_is_float((tn_dtype)to->dtype)) /* no corner is cut off */
    return tn_triangle_run(to, from, INT64_MIN, INT64_MAX);
  return tn_elementwise_run(kernel, (tn_tensor *[]){ to, from }, 2, NULL, 0);
}

tn_tensor *tn_tensor_contiguous(tn_tensor *t, const char *operation)
{
  if (t->is_contiguous) return tn_retain(t);
  tn_tensor *copy = tn_tensor_like(t, (tn_dtype)t->dtype, operation);
  if (!copy || tn_tensor_move(copy, t) == TN_OK) return copy;
  tn_release(copy);
  return NULL;
}
