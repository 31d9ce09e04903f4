/* Products of matrices, and operations by index. */
#include "config.h"

#include "tests/tensor/gradcheck.h"

#define FORM(name, expression) \
  static tn_tensor *name(tn_tensor **x) { return expression; }

FORM(matmul, tn_matmul(x[0], x[1]))
FORM(matmul_same, tn_matmul(x[0], x[0]))
FORM(mm, tn_mm(x[0], x[1]))
FORM(bmm, tn_bmm(x[0], x[1]))
FORM(addmm, tn_addmm(x[0], x[1], x[2], 0.5, 1.5))
FORM(linear, tn_linear(x[0], x[1], x[2]))
FORM(linear_plain, tn_linear(x[0], x[1], NULL))
FORM(attention, tn_scaled_dot_product_attention(x[0], x[1], x[2], NULL, false,
                                                0))
FORM(attention_causal,
     tn_scaled_dot_product_attention(x[0], x[1], x[2], NULL, true, 0.7))
FORM(attention_mask,
     tn_scaled_dot_product_attention(x[0], x[1], x[2],
                                     gradcheck_mask(TN_SHAPE(3, 4)), false,
                                     0))
FORM(attention_bias,
     tn_scaled_dot_product_attention(x[0], x[1], x[2], x[3], false, 0))

static tn_tensor *some(void)
{
  return gradcheck_indices(TN_SHAPE(2, 3),
                           (const int64_t[]){ 0, 2, 1, 2, 2, 0 });
}

static tn_tensor *row(void)
{
  return gradcheck_indices(TN_SHAPE(4), (const int64_t[]){ 2, 0, 2, 1 });
}

FORM(embedding, tn_embedding(x[0], some()))
FORM(gather, tn_gather(x[0], 0, some()))
FORM(gather_last, tn_gather(x[0], -1, some()))
FORM(scatter_add, tn_scatter_add(x[0], 0, some(), x[1]))
FORM(scatter_add_in_place,
     tn_scatter_add_(tn_clone(x[0]), 1, some(), x[1]))
FORM(index_select, tn_index_select(x[0], 0, row()))
FORM(index_select_last, tn_index_select(x[0], -1, row()))
FORM(cat, tn_cat((tn_tensor *[]){ x[0], x[1], x[0] }, 3, 0))
FORM(cat_last, tn_cat((tn_tensor *[]){ x[0], x[1] }, 2, -1))
FORM(stack, tn_stack((tn_tensor *[]){ x[0], x[1] }, 2, 1))
FORM(tril, tn_tril(x[0], 0))
FORM(triu, tn_triu(x[0], 1))

#define CASE(f, a) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_TWICE, 1, { a } }
#define CASE_2(f, a, b) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_TWICE, 2, { a, b } }
#define CASE_3(f, a, b, c) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_TWICE, 3, { a, b, c } }
#define ONCE_3(f, a, b, c) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_REFUSED, 3, { a, b, c } }
#define ONCE_4(f, a, b, c, d) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_REFUSED, 4, { a, b, c, d } }

const gradcheck_case gradcheck_products[] = {
  CASE_2(matmul, GC_2(2, 3), GC_2(3, 4)),
  CASE_2(matmul, GC_1(3), GC_1(3)),
  CASE_2(matmul, GC_1(3), GC_2(3, 2)),
  CASE_2(matmul, GC_2(2, 3), GC_1(3)),
  CASE_2(matmul, GC_3(2, 2, 3), GC_2(3, 2)),
  CASE_2(matmul, GC_2(2, 3), GC_3(2, 3, 2)),
  CASE_2(matmul, GC_4(2, 1, 2, 3), GC_3(3, 3, 2)),
  CASE_2(matmul, GC_3(2, 2, 3), GC_1(3)),
  CASE_2(matmul, GC_1(3), GC_3(2, 3, 2)),
  CASE(matmul_same, GC_2(3, 3)),
  CASE_2(mm, GC_2(2, 3), GC_2(3, 2)),
  CASE_2(bmm, GC_3(2, 2, 3), GC_3(2, 3, 2)),
  CASE_3(addmm, GC_2(2, 4), GC_2(2, 3), GC_2(3, 4)),
  CASE_3(addmm, GC_1(4), GC_2(2, 3), GC_2(3, 4)),
  CASE_3(linear, GC_2(2, 3), GC_2(4, 3), GC_1(4)),
  CASE_3(linear, GC_3(2, 2, 3), GC_2(4, 3), GC_1(4)),
  CASE_2(linear_plain, GC_1(3), GC_2(4, 3)),
  ONCE_3(attention, GC_2(3, 2), GC_2(4, 2), GC_2(4, 3)),
  ONCE_3(attention, GC_3(2, 3, 2), GC_3(2, 4, 2), GC_3(2, 4, 3)),
  ONCE_3(attention_causal, GC_2(3, 2), GC_2(3, 2), GC_2(3, 3)),
  ONCE_3(attention_mask, GC_3(2, 3, 2), GC_3(2, 4, 2), GC_3(2, 4, 3)),
  ONCE_4(attention_bias, GC_3(2, 3, 2), GC_3(2, 4, 2), GC_3(2, 4, 3),
         GC_2(3, 4)),
  CASE(embedding, GC_2(3, 2)),
  CASE(gather, GC_2(3, 3)),
  CASE(gather_last, GC_2(2, 3)),
  CASE_2(scatter_add, GC_2(3, 3), GC_2(2, 3)),
  CASE_2(scatter_add_in_place, GC_2(2, 3), GC_2(2, 3)),
  CASE(index_select, GC_2(3, 2)),
  CASE(index_select_last, GC_2(2, 3)),
  CASE_2(cat, GC_2(2, 3), GC_2(1, 3)),
  CASE_2(cat_last, GC_2(2, 3), GC_2(2, 2)),
  CASE_2(stack, GC_2(2, 3), GC_2(2, 3)),
  CASE(tril, GC_2(3, 3)),
  CASE(triu, GC_3(2, 3, 3)),
};
const int gradcheck_products_count =
  sizeof gradcheck_products / sizeof *gradcheck_products;
