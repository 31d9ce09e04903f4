#include "bench/libtorch.h"

#include <cmath>
#include <vector>

#include <torch/torch.h>

void libtorch_set_threads(int threads) { at::set_num_threads(threads); }

static at::Tensor one(float value, bool requires_grad = false)
{
  return torch::full({1}, value).requires_grad_(requires_grad);
}

void libtorch_add_run(void *, int64_t count)
{
  torch::NoGradGuard guard;
  static at::Tensor x = one(1), y = one(2);
  for (int64_t i = 0; i < count; i++) at::Tensor z = at::add(x, y);
}

void libtorch_add_out_run(void *, int64_t count)
{
  torch::NoGradGuard guard;
  static at::Tensor x = one(1), y = one(2), z = one(0);
  for (int64_t i = 0; i < count; i++) at::add_out(z, x, y);
}

void libtorch_chain_run(void *, int64_t count)
{
  static at::Tensor x = one(1, true), w = one(1);
  for (int64_t i = 0; i < count; i++) {
    at::Tensor y = x;
    for (int k = 0; k < BENCH_CHAIN; k++) y = y * w;
    y.backward();
  }
}

struct libtorch_rows {
  at::Tensor x, y, weight, bias, row;
};

libtorch_rows *libtorch_rows_new(int64_t rows, int64_t columns)
{
  torch::NoGradGuard guard;
  at::Tensor x = torch::rand({rows, columns});
  return new libtorch_rows{x, at::empty_like(x), torch::ones({columns}),
                           torch::zeros({columns}), x.select(0, 0)};
}

void libtorch_rows_free(libtorch_rows *rows) { delete rows; }

template <typename Work>
static void repeat(void *argument, int64_t count, Work work)
{
  torch::NoGradGuard guard;
  auto *rows = static_cast<libtorch_rows *>(argument);
  for (int64_t i = 0; i < count; i++) at::Tensor result = work(*rows);
}

void libtorch_layer_norm_run(void *rows, int64_t count)
{
  repeat(rows, count, [](libtorch_rows &r) {
    return at::layer_norm(r.x, {r.x.size(1)}, r.weight, r.bias, 1e-5);
  });
}

void libtorch_softmax_run(void *rows, int64_t count)
{
  repeat(rows, count, [](libtorch_rows &r) { return at::softmax(r.x, 1); });
}

void libtorch_sum_run(void *rows, int64_t count)
{
  repeat(rows, count, [](libtorch_rows &r) { return at::sum(r.x); });
}

void libtorch_matmul_run(void *rows, int64_t count)
{
  repeat(rows, count, [](libtorch_rows &r) { return at::matmul(r.x, r.x); });
}

void libtorch_matvec_run(void *rows, int64_t count)
{
  repeat(rows, count,
         [](libtorch_rows &r) { return at::matmul(r.x, r.row); });
}

/* ---- the transformer ---- */

struct libtorch_block {
  at::Tensor norm1, shift1, qkv, qkv_bias, out, out_bias;
  at::Tensor norm2, shift2, up, up_bias, down, down_bias;
};

struct libtorch_model {
  transformer_shape shape;
  std::vector<at::Tensor> parameters;
  std::vector<libtorch_block> blocks;
  at::Tensor tokens, places, norm, shift, head, head_bias, mask;
  at::Tensor input, target;
  std::unique_ptr<torch::optim::AdamW> optimiser;

  at::Tensor parameter(at::IntArrayRef sizes, double deviation, double mean)
  {
    at::Tensor t = torch::randn(sizes) * deviation + mean;
    parameters.push_back(t.requires_grad_(true));
    return t;
  }
};

static libtorch_block make_block(libtorch_model *m)
{
  int64_t w = m->shape.width;
  auto weight = [m](int64_t a, int64_t b) {
    return m->parameter({a, b}, 0.02, 0);
  };
  auto bias = [m](int64_t n) { return m->parameter({n}, 0, 0); };
  auto scale = [m](int64_t n) { return m->parameter({n}, 0, 1); };
  return {scale(w),         bias(w),     weight(3 * w, w), bias(3 * w),
          weight(w, w),     bias(w),     scale(w),         bias(w),
          weight(4 * w, w), bias(4 * w), weight(w, 4 * w), bias(w)};
}

libtorch_model *libtorch_model_new(const transformer_shape *shape)
{
  auto *m = new libtorch_model;
  m->shape = *shape;
  m->tokens = m->parameter({shape->vocabulary, shape->width}, 0.02, 0);
  m->places = m->parameter({shape->context, shape->width}, 0.02, 0);
  for (int64_t i = 0; i < shape->layers; i++)
    m->blocks.push_back(make_block(m));
  m->norm = m->parameter({shape->width}, 0, 1);
  m->shift = m->parameter({shape->width}, 0, 0);
  m->head = m->parameter({shape->vocabulary, shape->width}, 0.02, 0);
  m->head_bias = m->parameter({shape->vocabulary}, 0, 0);
  m->mask = torch::ones({shape->context, shape->context}, at::kBool)
                .tril()
                .logical_not();
  m->input = torch::randint(shape->vocabulary,
                            {shape->batch, shape->context}, at::kLong);
  m->target = torch::randint(shape->vocabulary,
                             {shape->batch * shape->context}, at::kLong);
  m->optimiser = std::make_unique<torch::optim::AdamW>(
      m->parameters, torch::optim::AdamWOptions(1e-3));
  return m;
}

void libtorch_model_free(libtorch_model *model) { delete model; }

static at::Tensor attend(const libtorch_model *m, const libtorch_block &b,
                         const at::Tensor &x)
{
  const transformer_shape &s = m->shape;
  int64_t size = s.width / s.heads;
  auto parts = at::linear(x, b.qkv, b.qkv_bias)
                   .view({s.batch, s.context, 3, s.heads, size})
                   .permute({2, 0, 3, 1, 4});
  at::Tensor q = parts.select(0, 0), k = parts.select(0, 1),
             v = parts.select(0, 2);
  at::Tensor scores = at::matmul(q * (1 / std::sqrt((double)size)),
                                 k.transpose(-2, -1));
  scores = scores.masked_fill(m->mask, -INFINITY);
  at::Tensor y = at::matmul(at::softmax(scores, -1), v)
                     .transpose(1, 2)
                     .reshape({s.batch, s.context, s.width});
  return at::linear(y, b.out, b.out_bias);
}

static at::Tensor forward(const libtorch_model *m)
{
  int64_t w = m->shape.width;
  at::Tensor x = at::embedding(m->tokens, m->input) + m->places;
  for (const libtorch_block &b : m->blocks) {
    x = x + attend(m, b, at::layer_norm(x, {w}, b.norm1, b.shift1));
    at::Tensor y = at::layer_norm(x, {w}, b.norm2, b.shift2);
    y = at::gelu(at::linear(y, b.up, b.up_bias));
    x = x + at::linear(y, b.down, b.down_bias);
  }
  x = at::layer_norm(x, {w}, m->norm, m->shift);
  return at::linear(x, m->head, m->head_bias).view({-1, m->shape.vocabulary});
}

void libtorch_step_run(void *model, int64_t count)
{
  auto *m = static_cast<libtorch_model *>(model);
  for (int64_t i = 0; i < count; i++) {
    for (at::Tensor &p : m->parameters) p.mutable_grad().reset();
    at::cross_entropy_loss(forward(m), m->target).backward();
    m->optimiser->step();
  }
}
