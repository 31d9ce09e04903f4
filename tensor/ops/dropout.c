/* Dropout. */
#include "config.h"

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/compute/random.h"

/* What makes the same choice again for the gradient. */
typedef struct dropout_data {
  tn_random_piece piece;
  double p;
} dropout_data;

static tn_tensor *drop(tn_tensor *t, dropout_data data);

static tn_status formula(tn_node *node, tn_tensor **grads,
                         tn_tensor **results)
{
  const dropout_data *data = tn_node_data_of(node);
  results[0] = drop(grads[0], *data);
  return tn_node_check(node, results);
}

static void forget(void *data)
{
  tn_random_piece_release(((dropout_data *)data)->piece);
}

static const tn_node_kind kind = { "dropout", formula, false, forget };

/* Of the caller. */
static tn_tensor *compute(tn_tensor *t, dropout_data data)
{
  tn_tensor *x = tn_tensor_contiguous(t, "dropout");
  tn_tensor *y = x ? tn_tensor_like(x, (tn_dtype)x->dtype, "dropout") : NULL;
  double scale = data.p < 1 ? 1 / (1 - data.p) : 0;
  if (y && tn_dropout_run(y, x, data.piece, data.p, scale) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_release(x);
  return y;
}

static tn_tensor *drop(tn_tensor *t, dropout_data data)
{
  tn_tensor *y = t ? compute(t, data) : NULL;
  if (y && tn_grad_needed(&t, 1)) {
    tn_node *node = tn_node_new(&kind, &t, 1);
    dropout_data *kept = tn_node_data(node, sizeof data);
    *kept = data;
    if (node && tn_node_data_of(node) == kept)
      tn_random_piece_retain(data.piece);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

tn_tensor *tn_dropout(tn_tensor *t, double p, bool training)
{
  if (!t) return NULL;
  if (!(p >= 0 && p <= 1)) {
    tn_set_error(TN_INVALID_ARGUMENT, "dropout: probability %.9g: 0 to 1 is "
                 "possible", p);
    return NULL;
  }
  if (!training) return tn_scope_give(tn_retain(t));
  if (!tn_dtype_is_float((tn_dtype)t->dtype)) {
    tn_set_error(TN_DTYPE_MISMATCH, "dropout: dtype %s: f32 and f64 are "
                 "possible", tn_dtype_name((tn_dtype)t->dtype));
    return NULL;
  }
  if (p == 0 || t->numel == 0) return tn_scope_give(tn_retain(t));
  dropout_data data = { .p = p };
  uint64_t blocks = ((uint64_t)t->numel + 3) / 4;
  if (tn_generator_take(NULL, tn_tensor_place(t), blocks, "dropout",
                        &data.piece) != TN_OK)
    return NULL;
  tn_tensor *y = drop(t, data);
  tn_random_piece_release(data.piece);
  return y;
}
