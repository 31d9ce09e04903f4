/* Tensors as text, laid out as PyTorch does. */
#include "config.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/autograd.h"
#include "tensor/tensor/tensor.h"

#define PRECISION 4
#define SUMMARY_FROM 1000 /* elements; more are shown by their edges */
#define EDGE 3            /* elements shown at each end */
#define LINE_WIDTH 80
#define ELEMENT_SIZE 400 /* an f64 without exponent is shorter */

/* What is printed: the elements on the host, and how they are written. */
typedef struct printer {
  FILE *file;
  const tn_tensor *t;
  const char *data;
  int64_t strides[TN_DIMS_MAX];
  bool is_summary, is_float, is_whole, is_scientific;
  int width;
} printer;

static double float_at(const printer *p, int64_t at)
{
  return p->t->dtype == TN_F32 ? (double)((const float *)p->data)[at]
                               : ((const double *)p->data)[at];
}

static int64_t integer_at(const printer *p, int64_t at)
{
  switch ((tn_dtype)p->t->dtype) {
  case TN_I64: return ((const int64_t *)p->data)[at];
  case TN_I32: return ((const int32_t *)p->data)[at];
  default: return ((const uint8_t *)p->data)[at];
  }
}

static int format_float(const printer *p, double value, char *text,
                        size_t size)
{
  if (isnan(value)) return snprintf(text, size, "nan");
  if (isinf(value)) return snprintf(text, size, value < 0 ? "-inf" : "inf");
  if (p->is_scientific)
    return snprintf(text, size, "%.*e", PRECISION, value);
  if (p->is_whole) return snprintf(text, size, "%.0f.", value);
  return snprintf(text, size, "%.*f", PRECISION, value);
}

static int format_element(const printer *p, int64_t at, char *text,
                          size_t size)
{
  if (p->is_float) return format_float(p, float_at(p, at), text, size);
  if (p->t->dtype == TN_BOOL)
    return snprintf(text, size, integer_at(p, at) ? "True" : "False");
  return snprintf(text, size, "%" PRId64, integer_at(p, at));
}

/* Calls visit for each element that is shown. */
static void visit(printer *p, int dim, int64_t at,
                  void (*seen)(printer *p, int64_t at, double *range),
                  double *range)
{
  if (dim == p->t->ndim) {
    seen(p, at, range);
    return;
  }
  int64_t size = p->t->sizes[dim];
  for (int64_t i = 0; i < size; i++) {
    if (p->is_summary && size > 2 * EDGE && i == EDGE) i = size - EDGE;
    visit(p, dim + 1, at + i * p->strides[dim], seen, range);
  }
}

/* range: least and greatest magnitude that is not 0. */
static void see_magnitude(printer *p, int64_t at, double *range)
{
  double value = fabs(float_at(p, at));
  if (isnan(value) || isinf(value)) return;
  if (value != floor(value)) p->is_whole = false;
  if (value != 0 && value < range[0]) range[0] = value;
  if (value > range[1]) range[1] = value;
}

static void see_width(printer *p, int64_t at, double *range)
{
  char text[ELEMENT_SIZE];
  (void)range;
  int width = format_element(p, at, text, sizeof text);
  if (width > p->width) p->width = width;
}

/* The rules of torch.set_printoptions' default. */
static void choose_format(printer *p)
{
  double range[2] = { INFINITY, 0 };
  p->is_whole = p->is_float;
  if (p->is_float) {
    visit(p, 0, 0, see_magnitude, range);
    bool is_wide = range[1] > 0 && range[1] / range[0] > 1000;
    p->is_scientific = is_wide || range[1] > 1e8 ||
                       (!p->is_whole && range[0] < 1e-4);
  }
  visit(p, 0, 0, see_width, range);
}

/* Between two elements of a row: a space, or a new line. */
static void print_gap(const printer *p, int indent, int *column)
{
  int per_line = (LINE_WIDTH - indent) / (p->width + 2);
  if (++*column < per_line || per_line < 1)
    fputs(", ", p->file);
  else {
    fprintf(p->file, ",\n%*s", indent + 1, "");
    *column = 0;
  }
}

static void print_row(const printer *p, int indent, int64_t at)
{
  int last = p->t->ndim - 1, column = 0;
  int64_t size = p->t->sizes[last];
  fputc('[', p->file);
  for (int64_t i = 0; i < size; i++) {
    char text[ELEMENT_SIZE];
    if (i) print_gap(p, indent, &column);
    if (p->is_summary && size > 2 * EDGE && i == EDGE) {
      fputs(" ...", p->file);
      print_gap(p, indent, &column);
      i = size - EDGE;
    }
    format_element(p, at + i * p->strides[last], text, sizeof text);
    fprintf(p->file, "%*s", p->width, text);
  }
  fputc(']', p->file);
}

/* Between two rows, tables ... of dimension dim. */
static void print_break(const printer *p, int dim, int indent)
{
  fputc(',', p->file);
  for (int line = dim; line < p->t->ndim - 1; line++) fputc('\n', p->file);
  fprintf(p->file, "%*s", indent + 1, "");
}

static void print_dim(const printer *p, int dim, int indent, int64_t at)
{
  if (dim == p->t->ndim - 1) {
    print_row(p, indent, at);
    return;
  }
  int64_t size = p->t->sizes[dim];
  fputc('[', p->file);
  for (int64_t i = 0; i < size; i++) {
    if (i) print_break(p, dim, indent);
    if (p->is_summary && size > 2 * EDGE && i == EDGE) {
      fputs("...", p->file);
      print_break(p, dim, indent);
      i = size - EDGE;
    }
    print_dim(p, dim + 1, indent + 1, at + i * p->strides[dim]);
  }
  fputc(']', p->file);
}

static void print_elements(const printer *p)
{
  char text[ELEMENT_SIZE];
  if (p->t->numel == 0) {
    fputs("[]", p->file);
    return;
  }
  if (p->t->ndim) {
    print_dim(p, 0, (int)strlen("tensor("), 0);
    return;
  }
  format_element(p, 0, text, sizeof text);
  fputs(text, p->file);
}

static void print_facts(const printer *p)
{
  const tn_tensor *t = p->t;
  tn_place *place = tn_tensor_place(t);
  const char *made_by = tn_grad_fn_name(t);
  if (t->numel == 0 && t->ndim != 1)
    fprintf(p->file, ", size=%s", tn_shape_text(tn_tensor_shape(t)));
  if (!place->is_cpu) fprintf(p->file, ", device='%s'", place->name);
  if (t->dtype != TN_F32 && t->dtype != TN_I64 && t->dtype != TN_BOOL)
    fprintf(p->file, ", dtype=%s", tn_dtype_name((tn_dtype)t->dtype));
  if (made_by)
    fprintf(p->file, ", grad_fn=<%s>", made_by);
  else if (tn_requires_grad(t))
    fputs(", requires_grad=True", p->file);
  fputs(")\n", p->file);
}

tn_status tn_print(tn_tensor *t, FILE *file)
{
  if (!t) return tn_tensor_missing("print");
  if (!file)
    return tn_set_error(TN_INVALID_ARGUMENT, "print: the file is NULL");
  size_t bytes = (size_t)t->numel * tn_dtype_size((tn_dtype)t->dtype);
  char *data = malloc(bytes ? bytes : 1);
  if (!data)
    return tn_set_error(TN_OUT_OF_MEMORY, "print: no host memory for %zu "
                        "bytes", bytes);
  tn_status status = tn_read(t, data, bytes);
  if (status == TN_OK) {
    printer p = { .file = file, .t = t, .data = data,
                  .is_summary = t->numel > SUMMARY_FROM,
                  .is_float = tn_dtype_is_float((tn_dtype)t->dtype) };
    tn_shape_strides(tn_tensor_shape(t), p.strides);
    if (t->numel) choose_format(&p);
    fputs("tensor(", file);
    print_elements(&p);
    print_facts(&p);
    if (ferror(file))
      status = tn_set_error(TN_INVALID_ARGUMENT, "print: writing failed");
  }
  free(data);
  return status;
}
