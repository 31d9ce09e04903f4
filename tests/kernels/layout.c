/* Layouts of operands: see layout.h. */
#include "tests/kernels/layout.h"

/* Sizes whose product of the outer three is about `rows`. */
static layout random_sizes(kernel_trial *t, int64_t about)
{
  layout l = { { 1, 1, about, 1 }, { 0 }, 0 };
  l.size[3] = 1 + trial_below(t, 70);
  if (trial_below(t, 2)) {
    l.size[0] = 1 + trial_below(t, 3);
    l.size[1] = 1 + trial_below(t, 4);
    l.size[2] = about / (l.size[0] * l.size[1]) + 1;
  }
  return l;
}

/* Strides for a permutation of the dimensions, with gaps; an operand may be
 * broadcast along some. */
static void random_strides(kernel_trial *t, layout *l, bool operand)
{
  int order[4] = { 3, 2, 1, 0 };
  for (int i = 3; i > 0 && trial_below(t, 2); i--) {
    int j = (int)trial_below(t, i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  int64_t step = 1 + (trial_below(t, 4) == 0);
  l->extent = 1;
  for (int i = 0; i < 4; i++) {
    int d = order[i];
    l->stride[d] = operand && trial_below(t, 4) == 0 ? 0 : step;
    l->extent += (l->size[d] - 1) * l->stride[d];
    step = step * l->size[d] + trial_below(t, 3);
  }
}

int64_t layout_place(const layout *l, int64_t i)
{
  int64_t at = 0;
  for (int d = 3; d >= 0; d--) {
    at += i % l->size[d] * l->stride[d];
    i /= l->size[d];
  }
  return at;
}

int64_t layout_count(const layout *l)
{
  return l->size[0] * l->size[1] * l->size[2] * l->size[3];
}

void random_layouts(kernel_trial *t, layout *l, int count)
{
  l[0] = random_sizes(t, t->size);
  for (int i = 1; i < count; i++) l[i] = l[0];
  for (int i = 0; i < count; i++) random_strides(t, &l[i], i > 0);
}
