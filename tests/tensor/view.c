/* Views: random chains of them beside a model that keeps a list of elements,
 * and every edge of every one of them (rules T6, R20, R61). */
#include "config.h"

#include "tests/test_device.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { PROGRAMS = 300, STEPS = 6, ROOM = 1 << 12 };

static tn_device device;
static uint64_t state;

static int64_t below(int64_t n)
{
  state = state * 6364136223846793005 + 1442695040888963407;
  return (int64_t)((state >> 33) % (uint64_t)n);
}

/* ---- the model ---- */

/* elements[]: in row order, each by its place in the base. */
typedef struct model {
  int ndim;
  int64_t sizes[TN_DIMS_MAX];
  int64_t count, elements[ROOM];
} model;

static void row_steps(const model *m, int64_t *steps)
{
  int64_t step = 1;
  for (int i = m->ndim - 1; i >= 0; i--) {
    steps[i] = step;
    step *= m->sizes[i];
  }
}

/* The model of a view whose element at index[] is that of m at
 * begin + sum of index[i] * steps[i] in row order. */
static void look(model *m, int ndim, const int64_t *sizes,
                 const int64_t *steps, int64_t begin)
{
  static model view;
  int64_t index[TN_DIMS_MAX] = { 0 };
  view.ndim = ndim;
  view.count = 1;
  for (int i = 0; i < ndim; i++) {
    view.sizes[i] = sizes[i];
    view.count *= sizes[i];
  }
  for (int64_t at = 0; at < view.count; at++) {
    int64_t place = begin;
    for (int i = 0; i < ndim; i++) place += index[i] * steps[i];
    view.elements[at] = m->elements[place];
    for (int i = ndim - 1; i >= 0 && ++index[i] == sizes[i]; i--)
      index[i] = 0;
  }
  *m = view;
}

static bool agree(tn_tensor *t, const model *m)
{
  static int64_t read[ROOM];
  if (!t || tn_ndim(t) != m->ndim || tn_numel(t) != m->count) return false;
  for (int i = 0; i < m->ndim; i++)
    if (tn_size(t, i) != m->sizes[i]) return false;
  if (tn_read(t, read, (size_t)m->count * sizeof *read) != TN_OK)
    return false;
  return memcmp(read, m->elements, (size_t)m->count * sizeof *read) == 0;
}

/* ---- one view after another ---- */

static char trail[400];

__attribute__((format(printf, 1, 2))) static void note(const char *format,
                                                       ...)
{
  va_list arguments;
  size_t used = strlen(trail);
  va_start(arguments, format);
  vsnprintf(trail + used, sizeof trail - used, format, arguments);
  va_end(arguments);
}

static tn_tensor *step_transpose(tn_tensor *t, model *m)
{
  int64_t sizes[TN_DIMS_MAX], steps[TN_DIMS_MAX];
  if (m->ndim == 0) return tn_transpose(t, 0, -1);
  int a = (int)below(m->ndim), b = (int)below(m->ndim);
  note(" transpose(%d, %d)", a - m->ndim, b);
  tn_tensor *view = tn_transpose(t, a - m->ndim, b);
  row_steps(m, steps);
  memcpy(sizes, m->sizes, sizeof sizes);
  int64_t size = sizes[a], step = steps[a];
  sizes[a] = sizes[b];
  steps[a] = steps[b];
  sizes[b] = size;
  steps[b] = step;
  look(m, m->ndim, sizes, steps, 0);
  return view;
}

static tn_tensor *step_permute(tn_tensor *t, model *m)
{
  int64_t dims[TN_DIMS_MAX], sizes[TN_DIMS_MAX], steps[TN_DIMS_MAX];
  int64_t old[TN_DIMS_MAX];
  row_steps(m, old);
  for (int i = 0; i < m->ndim; i++) {
    int64_t at = below(i + 1);
    dims[i] = dims[at];
    dims[at] = i;
  }
  note(" permute");
  for (int i = 0; i < m->ndim; i++) {
    sizes[i] = m->sizes[dims[i]];
    steps[i] = old[dims[i]];
    if (below(2)) dims[i] -= m->ndim;
  }
  tn_tensor *view = tn_permute(t, (tn_shape){ dims, m->ndim });
  look(m, m->ndim, sizes, steps, 0);
  return view;
}

static tn_tensor *step_slice(tn_tensor *t, model *m)
{
  int64_t sizes[TN_DIMS_MAX], steps[TN_DIMS_MAX];
  if (m->ndim == 0) return tn_squeeze(t);
  int dim = (int)below(m->ndim);
  int64_t size = m->sizes[dim], step = 1 + below(3);
  int64_t start = below(2 * size + 3) - size - 1;
  int64_t end = below(3) ? below(2 * size + 3) - size - 1 : TN_END;
  note(" slice(%d, %" PRId64 ", %" PRId64 ", %" PRId64 ")", dim, start, end,
       step);
  tn_tensor *view = tn_slice(t, dim, start, end, step);
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = start < 0 ? 0 : start > size ? size : start;
  end = end < start ? start : end > size ? size : end;
  row_steps(m, steps);
  memcpy(sizes, m->sizes, sizeof sizes);
  sizes[dim] = (end - start + step - 1) / step;
  int64_t begin = start * steps[dim];
  steps[dim] *= step;
  look(m, m->ndim, sizes, steps, begin);
  return view;
}

static tn_tensor *step_narrow(tn_tensor *t, model *m)
{
  int64_t sizes[TN_DIMS_MAX], steps[TN_DIMS_MAX];
  if (m->ndim == 0) return tn_squeeze_dim(t, 0);
  int dim = (int)below(m->ndim);
  int64_t size = m->sizes[dim], start = below(size + 1);
  int64_t length = below(size - start + 1);
  note(" narrow(%d, %" PRId64 ", %" PRId64 ")", dim, start, length);
  tn_tensor *view = tn_narrow(t, dim - m->ndim,
                              start < size && below(2) ? start - size : start,
                              length);
  row_steps(m, steps);
  memcpy(sizes, m->sizes, sizeof sizes);
  sizes[dim] = length;
  look(m, m->ndim, sizes, steps, start * steps[dim]);
  return view;
}

static tn_tensor *step_squeeze(tn_tensor *t, model *m)
{
  int count = 0;
  note(" squeeze");
  for (int i = 0; i < m->ndim; i++)
    if (m->sizes[i] != 1) m->sizes[count++] = m->sizes[i];
  m->ndim = count;
  return tn_squeeze(t);
}

static tn_tensor *step_select(tn_tensor *t, model *m)
{
  int64_t sizes[TN_DIMS_MAX], steps[TN_DIMS_MAX] = { 0 };
  int dim = m->ndim ? (int)below(m->ndim) : -1;
  if (dim < 0 || m->sizes[dim] == 0) return step_squeeze(t, m);
  int64_t index = below(m->sizes[dim]);
  note(" select(%d, %" PRId64 ")", dim, index);
  tn_tensor *view = tn_select(t, dim,
                              below(2) ? index : index - m->sizes[dim]);
  row_steps(m, steps);
  int64_t begin = index * steps[dim];
  memcpy(sizes, m->sizes, sizeof sizes);
  for (int i = dim; i + 1 < m->ndim; i++) {
    sizes[i] = sizes[i + 1];
    steps[i] = steps[i + 1];
  }
  look(m, m->ndim - 1, sizes, steps, begin);
  return view;
}

/* Merges two neighbours or splits one; views where that is possible. */
static tn_tensor *step_reshape(tn_tensor *t, model *m)
{
  int64_t sizes[TN_DIMS_MAX];
  int ndim = m->ndim, at = ndim ? (int)below(ndim) : 0;
  memcpy(sizes, m->sizes, sizeof sizes);
  if (at + 1 < ndim && below(2)) {
    sizes[at] *= sizes[at + 1];
    for (int i = at + 1; i + 1 < ndim; i++) sizes[i] = sizes[i + 1];
    ndim--;
  } else if (ndim > 0 && ndim < TN_DIMS_MAX) {
    for (int i = ndim; i > at; i--) sizes[i] = sizes[i - 1];
    int64_t part = sizes[at] % 2 || sizes[at] == 0 ? 1 : 2;
    sizes[at] /= part;
    sizes[at + 1] = part;
    ndim++;
  }
  m->ndim = ndim;
  memcpy(m->sizes, sizes, sizeof sizes);
  if (ndim && m->count) sizes[below(ndim)] = -1;
  note(" reshape");
  tn_tensor *view = tn_view(t, (tn_shape){ sizes, ndim });
  if (!view) tn_clear_error();
  return view && below(2) ? view : tn_reshape(t, (tn_shape){ sizes, ndim });
}

static tn_tensor *step_expand(tn_tensor *t, model *m)
{
  int64_t sizes[TN_DIMS_MAX], steps[TN_DIMS_MAX], wanted[TN_DIMS_MAX];
  row_steps(m, steps);
  int extra = m->ndim < TN_DIMS_MAX - 2 ? (int)below(2) : 0;
  int64_t growth = 2;
  for (int i = m->ndim + extra - 1; i >= 0; i--) {
    int64_t size = i >= extra ? m->sizes[i - extra] : 1;
    bool grows = size == 1 && growth > 1 && below(2) && m->count < ROOM / 4;
    steps[i] = i >= extra && !grows ? steps[i - extra] : 0;
    sizes[i] = grows ? growth : size;
    wanted[i] = i >= extra && !grows && below(2) ? -1 : sizes[i];
    if (grows) growth = 1;
  }
  note(" expand");
  tn_tensor *view = tn_expand(t, (tn_shape){ wanted, m->ndim + extra });
  look(m, m->ndim + extra, sizes, steps, 0);
  return view;
}

static tn_tensor *step_unsqueeze(tn_tensor *t, model *m)
{
  if (m->ndim == TN_DIMS_MAX) return tn_detach(t);
  int at = (int)below(m->ndim + 1);
  note(" unsqueeze(%d)", at);
  for (int i = m->ndim; i > at; i--) m->sizes[i] = m->sizes[i - 1];
  m->sizes[at] = 1;
  m->ndim++;
  return tn_unsqueeze(t, below(2) ? at : at - m->ndim);
}

static tn_tensor *step_flatten(tn_tensor *t, model *m)
{
  int from = m->ndim ? (int)below(m->ndim) : 0;
  int to = m->ndim ? from + (int)below(m->ndim - from) : 0;
  note(" flatten(%d, %d)", from, to);
  tn_tensor *view = tn_flatten(t, from, m->ndim ? to - m->ndim : -1);
  if (m->ndim == 0) {
    m->ndim = 1;
    m->sizes[0] = 1;
    return view;
  }
  for (int i = from + 1; i <= to; i++) m->sizes[from] *= m->sizes[i];
  for (int i = to + 1; i < m->ndim; i++)
    m->sizes[from + i - to] = m->sizes[i];
  m->ndim -= to - from;
  return view;
}

static tn_tensor *take_step(tn_tensor *t, model *m)
{
  static tn_tensor *(*const steps[])(tn_tensor *, model *) = {
    step_transpose, step_permute, step_slice, step_narrow, step_select,
    step_reshape, step_expand, step_squeeze, step_unsqueeze, step_flatten
  };
  return steps[below(sizeof steps / sizeof *steps)](t, m);
}

static bool try_program(void)
{
  static model m;
  tn_tensor *t;
  trail[0] = '\0';
  m.ndim = (int)below(5);
  m.count = 1;
  for (int i = 0; i < m.ndim; i++) {
    m.sizes[i] = below(12) ? 1 + below(5) : 0;
    m.count *= m.sizes[i];
    note(" %" PRId64, m.sizes[i]);
  }
  for (int64_t i = 0; i < m.count; i++) m.elements[i] = i;
  t = tn_from_data(m.elements, ((tn_shape){ m.sizes, m.ndim }),
                   .device = device, .dtype = TN_I64);
  for (int i = 0; i < STEPS; i++) {
    t = take_step(t, &m);
    if (!agree(t, &m)) return false;
  }
  return true;
}

static void test_chains(void)
{
  int good = 0;
  tap_note("seed %" PRIu64, state);
  for (int i = 0; i < PROGRAMS; i++) {
    bool is_good = false;
    tn_with_scope is_good = try_program();
    if (!is_good) {
      tap_note("program %d:%s: %s", i, trail, tn_error_message());
      break;
    }
    good++;
  }
  tap_is_int(good, PROGRAMS, "T6 chains of views hold the elements that they "
             "should");
}

/* ---- edges ---- */

static tn_tensor *numbers(int64_t n)
{
  return tn_arange(0, n, 1, .device = device);
}

static void refused(tn_tensor *t, tn_status status, const char *part)
{
  tap_ok(!t && tn_last_status() == status &&
         strstr(tn_error_message(), part),
         "T6 refused: %s", tn_error_message());
  tn_clear_error();
}

static void test_view_refusals(void)
{
  tn_tensor *t = tn_reshape(numbers(24), TN_SHAPE(2, 3, 4));
  refused(tn_view(tn_transpose(t, 0, 1), TN_SHAPE(24)), TN_SHAPE_MISMATCH,
          "reshape copies");
  refused(tn_view(t, TN_SHAPE(5, 5)), TN_SHAPE_MISMATCH,
          "view: shape [5, 5] for the 24 elements of shape [2, 3, 4]");
  refused(tn_view(t, TN_SHAPE(-1, -1)), TN_INVALID_ARGUMENT,
          "one size may be -1");
  refused(tn_reshape(t, TN_SHAPE(7, -1)), TN_SHAPE_MISMATCH, "[7, -1]");
  refused(tn_reshape(numbers(0), TN_SHAPE(0, -1)), TN_SHAPE_MISMATCH,
          "[0, -1]");
  refused(tn_view(t, TN_SHAPE(-2, 12)), TN_INVALID_ARGUMENT, "0 or more");
  refused(tn_view(t, TN_SHAPE(INT64_C(1) << 32, INT64_C(1) << 32)),
          TN_SIZE_OVERFLOW, "exceeds");
  refused(tn_flatten(t, 2, 1), TN_INVALID_ARGUMENT, "behind the last");
  refused(tn_flatten(t, 3, 3), TN_INVALID_ARGUMENT, "dimension 3 of 3");
  refused(tn_transpose(t, 0, 3), TN_INVALID_ARGUMENT, "-3 to 2");
  refused(tn_permute(t, TN_SHAPE(0, 1)), TN_INVALID_ARGUMENT,
          "each must be named once");
  refused(tn_permute(t, TN_SHAPE(0, 1, -2)), TN_INVALID_ARGUMENT,
          "each must be named once");
}

static void test_part_refusals(void)
{
  tn_tensor *t = tn_reshape(numbers(24), TN_SHAPE(2, 3, 4));
  tn_tensor *scalar = tn_select(numbers(3), 0, 1);
  refused(tn_slice(t, 0, 0, 1, 0), TN_INVALID_ARGUMENT, "1 or more");
  refused(tn_slice(scalar, 0, 0, 1, 1), TN_INVALID_ARGUMENT, "0-dimensional");
  refused(tn_select(scalar, 0, 0), TN_INVALID_ARGUMENT, "0-dimensional");
  refused(tn_select(t, 1, 3), TN_INVALID_ARGUMENT, "index 3");
  refused(tn_select(t, 1, -4), TN_INVALID_ARGUMENT, "index -4");
  refused(tn_narrow(t, 1, 2, 2), TN_INVALID_ARGUMENT, "2 elements from 2");
  refused(tn_narrow(t, 1, 0, -1), TN_INVALID_ARGUMENT, "-1 elements");
  refused(tn_narrow(t, 1, 1, INT64_MAX), TN_INVALID_ARGUMENT, "narrow");
  refused(tn_expand(t, TN_SHAPE(2, 3, 5)), TN_SHAPE_MISMATCH, "[2, 3, 5]");
  refused(tn_expand(t, TN_SHAPE(3, 4)), TN_SHAPE_MISMATCH, "[3, 4]");
  refused(tn_expand(t, TN_SHAPE(-1, 2, 3, 4)), TN_SHAPE_MISMATCH, "expand");
  refused(tn_expand(tn_ones(TN_SHAPE(1, 1), .device = device),
                    TN_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40)),
          TN_SIZE_OVERFLOW, "expand");
  refused(tn_unsqueeze(t, 4), TN_INVALID_ARGUMENT, "unsqueeze");
  refused(tn_unsqueeze(tn_expand(scalar, TN_SHAPE(1, 1, 1, 1, 1, 1, 1, 1)),
                       0), TN_UNSUPPORTED, "9 dimensions");
}

static void test_strided_refusals(void)
{
  tn_tensor *t = numbers(10);
  refused(tn_as_strided(t, TN_SHAPE(2, 5), TN_SHAPE(5, 1), 1),
          TN_INVALID_ARGUMENT, "10 elements");
  refused(tn_as_strided(t, TN_SHAPE(2), TN_SHAPE(1), -1), TN_INVALID_ARGUMENT,
          "offset -1");
  refused(tn_as_strided(t, TN_SHAPE(2), TN_SHAPE(-1), 5), TN_INVALID_ARGUMENT,
          "0 or more");
  refused(tn_as_strided(t, TN_SHAPE(2), TN_SHAPE(1, 1), 0), TN_SHAPE_MISMATCH,
          "2 strides");
  refused(tn_as_strided(t, TN_SHAPE(4, 4),
                        TN_SHAPE(INT64_C(1) << 62, INT64_C(1) << 62), 0),
          TN_INVALID_ARGUMENT, "outside");
  refused(tn_as_strided(t, TN_SHAPE(2), TN_SHAPE(INT64_MAX), 1),
          TN_INVALID_ARGUMENT, "outside");
}

static bool holds(tn_tensor *t, const char *text)
{
  char line[200] = "";
  int64_t read[32];
  size_t used = 0;
  int64_t n = tn_numel(t);
  if (!t || n > 32 ||
      tn_read(t, read, (size_t)n * sizeof *read) != TN_OK)
    return false;
  for (int64_t i = 0; i < n; i++)
    used += (size_t)snprintf(line + used, sizeof line - used,
                             "%s%" PRId64, i ? " " : "", read[i]);
  if (strcmp(line, text) != 0) tap_note("%s, not %s", line, text);
  return strcmp(line, text) == 0;
}

static void test_strided(void)
{
  tn_tensor *t = numbers(10);
  tap_ok(holds(tn_as_strided(t, TN_SHAPE(3, 3), TN_SHAPE(2, 1), 1),
               "1 2 3 3 4 5 5 6 7"), "T6 as_strided: windows that overlap");
  tap_ok(holds(tn_as_strided(tn_slice(t, 0, 4, 6, 1), TN_SHAPE(2),
                             TN_SHAPE(9), 0), "0 9"),
         "T6 as_strided counts from the begin of the memory");
  tap_ok(tn_numel(tn_as_strided(t, TN_SHAPE(0, 3), TN_SHAPE(100, 100), 10)) ==
         0, "T6 no elements are nowhere outside");
  tap_ok(holds(tn_as_strided(t, TN_SCALAR, TN_SCALAR, 9), "9"),
         "T6 as_strided without dimensions");
  tap_ok(holds(tn_slice(t, 0, 8, TN_END, INT64_MAX), "8"),
         "R20 a step larger than everything");
  tap_ok(holds(tn_slice(tn_slice(t, 0, 0, 1, INT64_MAX), 0, 0, 5, 1), "0"),
         "R20 and a view of what it took");
  tap_ok(tn_numel(tn_slice(t, 0, 7, 3, 1)) == 0, "T6 an end before the begin");
  tap_ok(tn_numel(tn_slice(t, 0, INT64_MIN + 1, INT64_MIN + 1, 1)) == 0,
         "T6 bounds far outside");
}

/* Strides of dimensions of size 1 say nothing. */
static void test_odd_strides(void)
{
  tn_tensor *t = tn_as_strided(numbers(6), TN_SHAPE(1, 3, 1, 2),
                               TN_SHAPE(77, 2, 55, 1), 0);
  tap_ok(tn_is_contiguous(t), "R61 odd strides of size 1: contiguous");
  tap_ok(holds(tn_view(t, TN_SHAPE(6)), "0 1 2 3 4 5"),
         "R61 and can be viewed as one row");
  tn_tensor *columns = tn_transpose(tn_reshape(numbers(6), TN_SHAPE(2, 3)), 0,
                                    1);
  tap_ok(!tn_is_contiguous(columns) &&
         holds(tn_view(columns, TN_SHAPE(1, 3, 2, 1)), "0 3 1 4 2 5"),
         "R61 sizes of 1 can be put in anywhere");
  tap_ok(holds(tn_reshape(columns, TN_SHAPE(2, -1)), "0 3 1 4 2 5"),
         "T6 reshape copies where a view is impossible");
  tap_ok(tn_data_ptr(tn_reshape(columns, TN_SHAPE(3, 1, 2))) ==
         tn_data_ptr(columns), "T6 and only there");
}

static void test_empty(void)
{
  tn_tensor *t = tn_empty(TN_SHAPE(2, 0, 3), .device = device);
  tap_ok(tn_numel(tn_view(t, TN_SHAPE(5, 0))) == 0, "T6 view of no elements");
  tap_ok(tn_numel(tn_expand(tn_unsqueeze(t, 0), TN_SHAPE(4, -1, -1, -1))) ==
         0, "T6 expand of no elements");
  tap_ok(tn_size(tn_flatten(t, 0, -1), 0) == 0, "T6 flatten of no elements");
  tap_ok(tn_numel(tn_permute(t, TN_SHAPE(2, 1, 0))) == 0,
         "T6 permute of no elements");
  tap_ok(tn_size(tn_expand(tn_empty(TN_SHAPE(1), .device = device),
                           TN_SHAPE(0)), 0) == 0, "T6 expand to no elements");
}

static void test_sharing(void)
{
  tn_tensor *t = numbers(6), *view = tn_view(t, TN_SHAPE(2, 3));
  tap_ok(tn_data_ptr(view) == tn_data_ptr(t), "T6 a view is the same memory");
  tap_ok(tn_storage_offset(tn_select(view, 0, 1)) == 3, "T6 at its offset");
  tn_fill_(tn_select(view, 1, 2), 50);
  tap_ok(holds(t, "0 1 50 3 4 50"), "T6 what is written there is seen");
  tn_zero_(tn_detach(tn_narrow(t, 0, 0, 2)));
  tap_ok(holds(view, "0 0 50 3 4 50"), "T6 through detach too");
  tap_ok(!tn_view(NULL, TN_SHAPE(1)) && !tn_detach(NULL) &&
         tn_last_status() == TN_OK, "NULL gives NULL and sets no error");
}

/* A view alone keeps the memory. */
static void test_lifetime(void)
{
  size_t before = tn_memory_allocated(device);
  tn_tensor *view = NULL;
  tn_with_scope {
    view = tn_keep(tn_slice(numbers(1000), 0, 500, TN_END, 250));
  }
  tap_ok(holds(view, "500 750"), "T6 a view outlives its base");
  tap_ok(tn_memory_allocated(device) > before, "T6 with the memory");
  tn_release(view);
  tap_ok(tn_memory_allocated(device) == before, "T6 which then is free");
}

int main(void)
{
  device = test_device();
  state = 20261130;
  test_chains();
  tn_with_scope test_view_refusals();
  tn_with_scope test_part_refusals();
  tn_with_scope test_strided_refusals();
  tn_with_scope test_strided();
  tn_with_scope test_odd_strides();
  tn_with_scope test_empty();
  tn_with_scope test_sharing();
  test_lifetime();
  return tap_done();
}
