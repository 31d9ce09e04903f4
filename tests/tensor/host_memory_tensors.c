#define _GNU_SOURCE
#include "config.h"

#include "tests/tensor/host_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/failing_malloc.h"
#include "tests/tap.h"

/* The sum of a tensor that may be NULL. */
static bool adds_up(tn_tensor *t, double wanted)
{
  tn_tensor *sum = t ? tn_sum(t) : NULL;
  if (!sum) return false;
  double got = tn_item(sum);
  if (got != got) return false; /* NaN */
  if (got == wanted) return true;
  tap_note("a sum is %g, not %g", got, wanted);
  fflush(stdout);
  abort();
}

static bool print(tn_tensor *t)
{
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  bool is_good = tn_print(t, file) == TN_OK;
  fclose(file);
  __real_free(text);
  return is_good;
}

bool make_and_read(void)
{
  static const float data[] = { 1, 2, 3, 4 };
  float got[4] = { 0 };
  tn_tensor *t = tn_from_data(data, TN_SHAPE(2, 2), .device = device);
  tn_tensor *like = tn_full_like(t, 3);
  if (!adds_up(t, 10) || !adds_up(like, 12) ||
      !adds_up(tn_eye(3, .device = device), 3) ||
      !adds_up(tn_new_ones(t, TN_SHAPE(5)), 5) ||
      !adds_up(tn_new_full(t, TN_SHAPE(2), 4), 8) ||
      !adds_up(tn_new_zeros(t, TN_SHAPE(2)), 0) ||
      !adds_up(tn_ones_like(t), 4) || !adds_up(tn_zeros_like(t), 0) ||
      !tn_empty_like(t) || !tn_new_empty(t, TN_SHAPE(3)) ||
      !tn_empty(TN_SHAPE(2), .device = device) || !print(t))
    return false;
  tn_tensor *whole = tn_to(t, .dtype = TN_I64), *there = tn_cpu(t);
  tn_tensor *pinned = tn_pin_memory(there);
  if (!whole || !there || !pinned || tn_item_i64(tn_sum(whole)) != 10 ||
      !tn_copy_(like, pinned) || !adds_up(like, 10))
    return false;
  return tn_read(t, got, sizeof got) == TN_OK && got[3] == 4;
}

bool make_views(void)
{
  tn_tensor *t = ones(TN_SHAPE(2, 3, 4), true);
  tn_tensor *wide = tn_expand(tn_unsqueeze(tn_squeeze(t), 0),
                              TN_SHAPE(2, -1, -1, -1));
  tn_tensor *turned = tn_contiguous(tn_permute(wide, TN_SHAPE(3, 1, 2, 0)));
  tn_tensor *flat = tn_flatten(tn_reshape(turned, TN_SHAPE(8, 6)), 0, 1);
  tn_tensor *every = tn_slice(tn_view(flat, TN_SHAPE(6, 8)), 1, 0, TN_END, 2);
  tn_tensor *strided = tn_as_strided(t, TN_SHAPE(2, 2), TN_SHAPE(4, 1), 1);
  tn_tensor *dim = tn_squeeze_dim(tn_unsqueeze(strided, 1), 1);
  return adds_up(every, 24) && adds_up(dim, 4) && adds_up(tn_detach(t), 24) &&
         tn_record_stream(t, tn_current_stream(device)) == TN_OK &&
         tn_backward(tn_add(tn_sum(every), tn_sum(dim))) == TN_OK;
}

bool compute(void)
{
  tn_tensor *x = ones(TN_SHAPE(3, 3), true), *y = ones(TN_SHAPE(3, 3), true);
  tn_tensor *mask = tn_logical_not(tn_logical_or(
    tn_logical_and(tn_isnan(x), tn_isnan(y)),
    tn_logical_xor(tn_isnan(x), tn_isnan(y))));
  tn_tensor *chosen = tn_where(mask, tn_add_alpha(x, y, 2),
                               tn_sub_alpha(x, y, 2));
  tn_tensor *bounded = tn_clamp(tn_masked_fill(chosen, mask, 2), 0, 1);
  tn_tensor *product = tn_addmm(x, tn_mm(x, y), tn_matmul(y, x), 1, 1);
  tn_tensor *batch = tn_bmm(tn_unsqueeze(x, 0), tn_unsqueeze(y, 0));
  tn_tensor *turned = tn_rsub_scalar(tn_rdiv_scalar(tn_rpow_scalar(y, 2), 2),
                                     1);
  tn_tensor *spread = tn_add(tn_var(x, 1), tn_std(tn_triu(y, 0), 1));
  tn_tensor *rows = tn_add(tn_sum_dims(x, TN_SHAPE(0, 1), false),
                           tn_mean_dims(y, TN_SHAPE(0, 1), false));
  tn_tensor *soft = tn_mse_loss(tn_log_softmax(x, 1), tn_gelu_tanh(y));
  tn_tensor *normal = tn_layer_norm(x, TN_SHAPE(3), NULL, NULL, 1e-5);
  if (!adds_up(chosen, 27) || !adds_up(bounded, 9) || !adds_up(product, 252) ||
      !adds_up(batch, 27) || !adds_up(turned, 0) || !adds_up(rows, 10))
    return false;
  tn_tensor *all = tn_add(tn_add(tn_sum(bounded), tn_sum(product)),
                          tn_add(tn_sum(batch), tn_sum(turned)));
  all = tn_add(tn_add(all, tn_sum(spread)), tn_add(soft, tn_sum(normal)));
  return tn_backward(tn_add(all, tn_sum(chosen))) == TN_OK && tn_grad(x);
}

/* A record that finds no memory is not left out: gradients would be wrong. */
bool record_in_place(void)
{
  tn_tensor *x = ones(TN_SHAPE(3), true), *y = ones(TN_SHAPE(3), true);
  tn_tensor *mask = tn_zeros(TN_SHAPE(3), .dtype = TN_BOOL, .device = device);
  tn_tensor *z = tn_mul_(tn_neg_(tn_clone(x)), y);
  tn_tensor *copied = tn_copy_(tn_zeros_like(z), tn_masked_fill_(z, mask, 0));
  tn_tensor *index = tn_arange(0, 3, 1, .device = device);
  tn_tensor *added = tn_scatter_add_(copied, 0, index, y);
  if (!added || tn_backward(tn_sum(added)) != TN_OK) return false;
  tn_tensor *rest = tn_sub(tn_add_scalar(tn_grad(x), 1), tn_grad(y));
  return adds_up(rest, 0);
}

bool use_indices(void)
{
  tn_tensor *x = ones(TN_SHAPE(3, 4), true);
  tn_tensor *index = tn_zeros(TN_SHAPE(3, 2), .dtype = TN_I64,
                              .device = device);
  tn_tensor *got = tn_gather(x, 1, index);
  tn_tensor *sum = tn_scatter_add(x, 1, index, got);
  tn_tensor *hot = tn_one_hot(tn_select(index, 1, 0), 4);
  tn_tensor *loss = tn_nll_loss(tn_log_softmax(sum, 1),
                                tn_select(index, 1, 0));
  tn_tensor *own = tn_zeros(TN_SHAPE(3, 4), .device = device);
  if (!own || !adds_up(tn_scatter_add_(own, 1, index, tn_detach(got)), 6) ||
      !adds_up(got, 6) || !adds_up(sum, 18) || !adds_up(hot, 3))
    return false;
  return tn_backward(loss) == TN_OK && tn_grad(x);
}

bool draw(void)
{
  uint64_t seed, offset;
  tn_generator *generator = tn_generator_new(device);
  if (!generator) return false;
  tn_generator_release(tn_generator_retain(generator));
  bool is_good = tn_generator_seed(generator, 5) == TN_OK &&
                 tn_generator_initial_seed(generator) == 5 &&
                 tn_generator_state(generator, &seed, &offset) == TN_OK;
  tn_tensor *t = tn_empty(TN_SHAPE(64), .device = device), *first = NULL;
  is_good = is_good && t && tn_uniform_(t, 0, 1, generator) &&
            (first = tn_clone(t)) &&
            tn_generator_set_state(generator, seed, offset) == TN_OK &&
            tn_uniform_(t, 0, 1, generator) && adds_up(tn_eq(t, first), 64) &&
            tn_normal_(t, 0, 1, generator) &&
            tn_rand(TN_SHAPE(3), .device = device) && tn_rand_like(t) &&
            tn_randn(TN_SHAPE(3), .device = device) && tn_randn_like(t) &&
            tn_dropout(t, 0.5, true) && tn_generator_default(device);
  tn_generator_release(generator);
  return is_good;
}

bool use_modes(void)
{
  tn_tensor *x = ones(TN_SHAPE(3), true), *doubled = NULL, *hidden = NULL;
  tn_tensor *grads = ones(TN_SHAPE(3), false);
  if (!x || !grads) return false;
  tn_no_grad {
    hidden = tn_add_(tn_zeros_like(x), x);
    tn_enable_grad doubled = tn_add(x, x);
  }
  if (!hidden || !doubled || tn_retain_grad(doubled) != TN_OK ||
      tn_backward_with(tn_mul(doubled, doubled), grads) != TN_OK ||
      !adds_up(tn_grad(doubled), 12) || !adds_up(tn_grad(x), 24))
    return false;
  return tn_set_grad(x, tn_ones_like(hidden)) == TN_OK &&
         adds_up(tn_grad(x), 3) && tn_set_grad(x, NULL) == TN_OK &&
         tn_requires_grad_(x, false) && tn_zero_(x) && tn_fill_(x, 2) &&
         tn_clamp_(tn_add_alpha_(x, hidden, 2), 0, 3) &&
         tn_sub_alpha_(x, hidden, 1) && adds_up(x, 6);
}
