/* Views, and changes in place through them and beside them. */
#include "config.h"

#include "tests/tensor/gradcheck.h"

#define FORM(name, expression) \
  static tn_tensor *name(tn_tensor **x) { return expression; }

FORM(view, tn_mul(tn_view(tn_clone(x[0]), TN_SHAPE(3, -1)), x[1]))
FORM(reshape, tn_reshape(tn_transpose(x[0], 0, 1), TN_SHAPE(6)))
FORM(transpose, tn_mul(tn_transpose(x[0], 0, 1), x[1]))
FORM(permute, tn_permute(x[0], TN_SHAPE(2, 0, 1)))
FORM(slice, tn_slice(x[0], 1, 1, TN_END, 2))
FORM(slice_none, tn_sum(tn_slice(x[0], 0, 2, 1, 1)))
FORM(select, tn_select(x[0], -1, -2))
FORM(narrow, tn_narrow(x[0], 0, 1, 1))
FORM(expand, tn_mul(tn_expand(x[0], TN_SHAPE(2, -1, 3)), x[1]))
FORM(squeeze, tn_squeeze(x[0]))
FORM(squeeze_dim, tn_squeeze_dim(x[0], 2))
FORM(unsqueeze, tn_unsqueeze(x[0], -2))
FORM(flatten, tn_flatten(x[0], 0, 1))
FORM(parts, tn_mul(tn_select(x[0], 0, 0), tn_select(x[0], 0, 1)))
FORM(chain, tn_mul_scalar(tn_select(tn_transpose(tn_unsqueeze(x[0], 0), 0, 2),
                                    2, 0), 2))
FORM(strided, tn_as_strided(tn_clone(x[0]), TN_SHAPE(2, 2), TN_SHAPE(1, 3),
                            1))
FORM(strided_windows,
     tn_as_strided(tn_clone(x[0]), TN_SHAPE(4, 3), TN_SHAPE(1, 1), 0))
FORM(strided_still,
     tn_as_strided(tn_clone(x[0]), TN_SHAPE(3, 2), TN_SHAPE(0, 2), 1))
FORM(strided_columns,
     tn_as_strided(tn_transpose(tn_clone(x[0]), 0, 1), TN_SHAPE(2, 2),
                   TN_SHAPE(2, 1), 0))
FORM(strided_expanded,
     tn_as_strided(tn_expand(tn_clone(x[0]), TN_SHAPE(3, 2)), TN_SHAPE(2, 2),
                   TN_SHAPE(1, 0), 0))

/* y, part of which is changed. */
static tn_tensor *scaled_row(tn_tensor **x)
{
  tn_tensor *y = tn_mul(x[0], x[0]);
  return tn_mul_(tn_select(y, 0, 1), x[1]) ? y : NULL;
}

static tn_tensor *added_part(tn_tensor **x)
{
  tn_tensor *y = tn_mul(x[0], x[0]), *part = tn_slice(y, 1, 0, TN_END, 2);
  if (!tn_add_(part, x[1])) return NULL;
  return tn_mul(tn_sum_dim(y, 0, true), tn_sum_dim(part, 1, true));
}

static tn_tensor *copied_part(tn_tensor **x)
{
  tn_tensor *y = tn_clone(x[0]);
  return tn_copy_(tn_transpose(y, 0, 1), x[1]) ? tn_mul(y, x[0]) : NULL;
}

static tn_tensor *filled_part(tn_tensor **x)
{
  tn_tensor *y = tn_clone(x[0]);
  return tn_fill_(tn_narrow(y, 1, 0, 2), 2) ? tn_mul(y, x[0]) : NULL;
}

/* The base is changed; a view made before sees it. */
static tn_tensor *changed_base(tn_tensor **x)
{
  tn_tensor *y = tn_clone(x[0]), *part = tn_select(y, 0, 0);
  return tn_mul_(y, x[1]) ? part : NULL;
}

/* One view is changed; another one of the same base sees it. */
static tn_tensor *changed_other(tn_tensor **x)
{
  tn_tensor *y = tn_clone(x[0]), *flat = tn_view(y, TN_SHAPE(-1));
  tn_tensor *again = tn_expand(tn_select(y, 0, 1), TN_SHAPE(2, -1));
  if (!tn_mul_(tn_narrow(flat, 0, 1, 4), x[1])) return NULL;
  return tn_mul(again, tn_sum(flat));
}

/* The base needed no gradient before. */
static tn_tensor *changed_constant(tn_tensor **x)
{
  tn_tensor *y = tn_ones(TN_SHAPE(2, 3), .dtype = TN_F64,
                         .device = tn_device_of_tensor(x[0]));
  tn_tensor *row = tn_select(y, 0, 1), *column = tn_select(y, 1, 0);
  if (!tn_add_(row, x[0]) || !tn_mul_(column, x[1])) return NULL;
  return tn_mul(y, tn_sum(row));
}

static tn_tensor *changed_again(tn_tensor **x)
{
  tn_tensor *y = tn_clone(x[0]), *part = tn_select(y, 0, 0);
  if (!tn_mul_(part, x[1]) || !tn_add_scalar_(y, 1) || !tn_mul_(part, x[1]))
    return NULL;
  return tn_mul(y, x[0]);
}

/* Changed on both sides of the operation. */
static tn_tensor *times_itself(tn_tensor **x)
{
  tn_tensor *y = tn_clone(x[0]);
  return tn_add_(tn_select(y, 0, 0), tn_select(y, 0, 1)) ? y : NULL;
}

/* The view saved its result: it has no second derivative. */
static tn_tensor *exp_of_part(tn_tensor **x)
{
  tn_tensor *y = tn_clone(x[0]);
  return tn_exp_(tn_select(y, 0, 0)) ? y : NULL;
}

/* In a view of memory that is detached from its own base. */
static tn_tensor *part_of_detached(tn_tensor **x)
{
  tn_tensor *whole = tn_full(TN_SHAPE(2, 5), 1.5, .dtype = TN_F64,
                             .device = tn_device_of_tensor(x[0]));
  tn_tensor *y = tn_detach(tn_slice(whole, 1, 1, 5, 2));
  return tn_mul_(tn_select(y, 0, 1), x[0]) ? tn_mul(y, x[1]) : NULL;
}

#define CASE(f, a) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_TWICE, 1, { a } }
#define CASE_2(f, a, b) \
  { #f, f, GRADCHECK_ANY, GRADCHECK_TWICE, 2, { a, b } }

const gradcheck_case gradcheck_views[] = {
  CASE_2(view, GC_2(2, 3), GC_2(3, 2)),
  CASE(reshape, GC_2(2, 3)),
  CASE_2(transpose, GC_2(2, 3), GC_2(3, 2)),
  CASE(permute, GC_3(2, 3, 2)),
  CASE(slice, GC_2(2, 5)),
  CASE(slice_none, GC_2(2, 3)),
  CASE(select, GC_2(2, 3)),
  CASE(narrow, GC_2(2, 3)),
  CASE_2(expand, GC_2(2, 1), GC_3(2, 2, 3)),
  CASE_2(expand, GC_2(1, 3), GC_3(2, 1, 3)),
  CASE(squeeze, GC_3(1, 3, 1)),
  CASE(squeeze_dim, GC_3(2, 3, 1)),
  CASE(unsqueeze, GC_2(2, 3)),
  CASE(flatten, GC_3(2, 3, 2)),
  CASE(parts, GC_2(2, 3)),
  CASE(chain, GC_2(2, 3)),
  CASE(strided, GC_2(2, 3)),
  CASE(strided_windows, GC_2(2, 3)),
  CASE(strided_still, GC_2(2, 3)),
  CASE(strided_columns, GC_2(2, 3)),
  CASE(strided_expanded, GC_1(2)),
  CASE_2(scaled_row, GC_2(2, 3), GC_1(3)),
  CASE_2(added_part, GC_2(2, 3), GC_2(2, 1)),
  CASE_2(copied_part, GC_2(2, 3), GC_1(2)),
  CASE(filled_part, GC_2(2, 3)),
  CASE_2(changed_base, GC_2(2, 3), GC_2(1, 3)),
  CASE_2(changed_other, GC_2(2, 3), GC_1(4)),
  CASE_2(changed_constant, GC_1(3), GC_1(2)),
  CASE_2(changed_again, GC_2(2, 3), GC_1(3)),
  CASE(times_itself, GC_2(2, 3)),
  { "exp_of_part", exp_of_part, GRADCHECK_ANY, GRADCHECK_REFUSED, 1,
    { GC_2(2, 3) } },
  CASE_2(part_of_detached, GC_1(2), GC_2(2, 2)),
};
const int gradcheck_views_count =
  sizeof gradcheck_views / sizeof *gradcheck_views;
