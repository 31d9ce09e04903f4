#include "model.h"

#include <stdlib.h>

/* ---- a block: attention, then two layers, each added to what came in ---- */

typedef struct block {
  int64_t width, heads;
  tn_nn_module *norm1, *qkv, *project, *norm2, *up, *down; /* borrowed */
} block;

/* [batch, length, width] of one of the three, as [batch, heads, length, -]. */
static tn_tensor *part_of(tn_tensor *qkv, int64_t which)
{
  return tn_transpose(tn_select(qkv, 2, which), 1, 2);
}

static tn_tensor *attend(const block *b, tn_tensor *x)
{
  int64_t batch = tn_size(x, 0), length = tn_size(x, 1);
  tn_tensor *qkv =
      tn_view(tn_nn_forward(b->qkv, x),
              TN_SHAPE(batch, length, 3, b->heads, b->width / b->heads));
  tn_tensor *y = tn_scaled_dot_product_attention(
      part_of(qkv, 0), part_of(qkv, 1), part_of(qkv, 2), NULL, true, 0);
  y = tn_reshape(tn_transpose(y, 1, 2), TN_SHAPE(batch, length, b->width));
  return tn_nn_forward(b->project, y);
}

static tn_tensor *think(const block *b, tn_tensor *x)
{
  return tn_nn_forward(b->down, tn_gelu(tn_nn_forward(b->up, x)));
}

static tn_tensor *block_forward(tn_nn_module *self, tn_tensor *const *inputs,
                                int n)
{
  const block *b = tn_nn_data(self);
  (void)n;
  tn_tensor *x = inputs[0];
  x = tn_add(x, attend(b, tn_nn_forward(b->norm1, x)));
  return tn_add(x, think(b, tn_nn_forward(b->norm2, x)));
}

static const tn_nn_class block_class = { "Block", block_forward, free };

static tn_nn_module *new_norm(int64_t width, tn_device device)
{
  return tn_nn_layer_norm(TN_SHAPE(width), 1e-5, true, .device = device);
}

static tn_nn_module *block_new(const model_size *size, tn_device device)
{
  int64_t width = size->width;
  block *b = calloc(1, sizeof *b);
  if (!b) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a block");
    return NULL;
  }
  *b = (block){ .width = width, .heads = size->heads };
  tn_nn_module *m = tn_nn_module_new(&block_class, b);
  if (!m) return NULL;
  tn_nn_options options = { .device = device };
  b->norm1 = tn_nn_add(m, "norm1", new_norm(width, device));
  b->qkv = tn_nn_add(m, "qkv",
                     tn_nn_linear_with(width, 3 * width, true, options));
  b->project = tn_nn_add(m, "project",
                         tn_nn_linear_with(width, width, true, options));
  b->norm2 = tn_nn_add(m, "norm2", new_norm(width, device));
  b->up = tn_nn_add(m, "up",
                    tn_nn_linear_with(width, 4 * width, true, options));
  b->down = tn_nn_add(m, "down",
                      tn_nn_linear_with(4 * width, width, true, options));
  if (b->norm1 && b->qkv && b->project && b->norm2 && b->up && b->down)
    return m;
  tn_nn_module_release(m);
  return NULL;
}

/* ---- the whole ---- */

typedef struct whole {
  tn_nn_module *characters, *places, *blocks, *norm, *head; /* borrowed */
} whole;

static tn_tensor *whole_forward(tn_nn_module *self, tn_tensor *const *inputs,
                                int n)
{
  const whole *w = tn_nn_data(self);
  (void)n;
  int64_t length = tn_size(inputs[0], 1);
  tn_tensor *places =
      tn_narrow(tn_nn_parameter(w->places, "weight"), 0, 0, length);
  tn_tensor *x = tn_add(tn_nn_forward(w->characters, inputs[0]), places);
  x = tn_nn_forward(w->norm, tn_nn_forward(w->blocks, x));
  return tn_nn_forward(w->head, x);
}

static const tn_nn_class whole_class = { "Charlm", whole_forward, free };

static tn_nn_module *stack_new(const model_size *size, tn_device device)
{
  tn_nn_module **blocks = calloc((size_t)size->layers, sizeof(void *));
  if (!blocks) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for %lld blocks",
                 (long long)size->layers);
    return NULL;
  }
  for (int64_t i = 0; i < size->layers; i++)
    blocks[i] = block_new(size, device);
  tn_nn_module *stack = tn_nn_sequential(blocks, (int)size->layers);
  free(blocks);
  return stack;
}

/* Small ones: what the characters and places say is learned soon. */
static tn_nn_module *embedding_new(int64_t count, int64_t width,
                                   tn_device device)
{
  tn_nn_module *m = tn_nn_embedding(count, width, .device = device);
  tn_no_grad {
    if (m && !tn_normal_(tn_nn_parameter(m, "weight"), 0, 0.1, NULL)) {
      tn_nn_module_release(m);
      m = NULL;
    }
  }
  return m;
}

tn_nn_module *model_new(const model_size *size, tn_device device)
{
  whole *w = calloc(1, sizeof *w);
  if (!w) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a model");
    return NULL;
  }
  tn_nn_module *m = tn_nn_module_new(&whole_class, w);
  if (!m) return NULL;
  w->characters = tn_nn_add(
      m, "characters", embedding_new(size->kinds, size->width, device));
  w->places = tn_nn_add(
      m, "places", embedding_new(size->context, size->width, device));
  w->blocks = tn_nn_add(m, "blocks", stack_new(size, device));
  w->norm = tn_nn_add(m, "norm", new_norm(size->width, device));
  w->head = tn_nn_add(m, "head", tn_nn_linear(size->width, size->kinds, true,
                                              .device = device));
  if (w->characters && w->places && w->blocks && w->norm && w->head) return m;
  tn_nn_module_release(m);
  return NULL;
}
