/* First values of parameters. */
#include "config.h"

#include <math.h>

#include "tenon/nn.h"
#include "tensor/nn/init.h"
#include "tensor/tensor/shape.h"

tn_tensor *tn_nn_uniform_within_(tn_tensor *t, double bound)
{
  tn_tensor *result = NULL;
  tn_no_grad result = tn_uniform_(t, -bound, bound, NULL);
  return result;
}

/* How many values each output is the sum of, and the other way round. */
static bool fans_of(const tn_tensor *t, double *in, double *out)
{
  tn_shape shape = tn_shape_of(t);
  if (shape.ndim < 2) {
    tn_set_error(TN_SHAPE_MISMATCH, "first values by inputs and outputs: "
                 "shape %s: two dimensions or more are needed",
                 tn_shape_text(shape));
    return false;
  }
  double field = 1;
  for (int i = 2; i < shape.ndim; i++) field *= (double)shape.sizes[i];
  *in = (double)shape.sizes[1] * field;
  *out = (double)shape.sizes[0] * field;
  return true;
}

tn_tensor *tn_nn_kaiming_uniform_(tn_tensor *t, double a)
{
  double in, out;
  if (!t || !fans_of(t, &in, &out)) return NULL;
  if (in == 0) return t;
  double deviation = sqrt(2 / (1 + a * a)) / sqrt(in);
  return tn_nn_uniform_within_(t, sqrt(3) * deviation);
}

tn_tensor *tn_nn_xavier_uniform_(tn_tensor *t, double gain)
{
  double in, out;
  if (!t || !fans_of(t, &in, &out)) return NULL;
  if (in + out == 0) return t;
  double deviation = gain * sqrt(2 / (in + out));
  return tn_nn_uniform_within_(t, sqrt(3) * deviation);
}
