/* Elements and sums by index, joining, triangles, on any device. */
#include "config.h"

#include "tests/test_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static tn_tensor *floats(const float *values, tn_shape shape)
{
  return tn_from_data(values, shape, .device = device);
}
#define FLOATS(shape, ...) floats((const float[]){ __VA_ARGS__ }, shape)

static tn_tensor *indices(const int64_t *values, tn_shape shape)
{
  return tn_from_data(values, shape, .device = device, .dtype = TN_I64);
}
#define INDICES(shape, ...) indices((const int64_t[]){ __VA_ARGS__ }, shape)

/* 0, 1, 2, ... */
static tn_tensor *counting(tn_shape shape)
{
  float values[256];
  for (int i = 0; i < 256; i++) values[i] = (float)i;
  return floats(values, shape);
}

static void expect(tn_tensor *t, const float *wanted, int64_t n,
                   const char *what)
{
  float *got = calloc((size_t)n + 1, sizeof *got);
  if (!t || tn_read(t, got, (size_t)n * sizeof *got) != TN_OK)
    tap_note("%s", tn_error_message());
  if (!tap_ok(t && tn_numel(t) == n &&
                  memcmp(got, wanted, (size_t)n * sizeof *got) == 0,
              "%s", what))
    for (int64_t i = 0; i < n; i++)
      if (got[i] != wanted[i])
        tap_note("element %lld is %g, wanted %g", (long long)i,
                 (double)got[i], (double)wanted[i]);
  free(got);
}
#define EXPECT(t, what, ...)                                             \
  expect(t, (const float[]){ __VA_ARGS__ },                              \
         (int64_t)(sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float)), \
         what)

static void test_embedding(void)
{
  tn_with_scope {
    tn_tensor *weight = counting(TN_SHAPE(4, 2));
    tn_tensor *y = tn_embedding(weight, INDICES(TN_SHAPE(2, 2), 3, 0, 1, 3));
    EXPECT(y, "T2 embedding: rows by index", 6, 7, 0, 1, 2, 3, 6, 7);
    tap_ok(tn_ndim(y) == 3 && tn_size(y, 1) == 2, "T2 embedding: the shape");
    EXPECT(tn_embedding(weight, INDICES(TN_SCALAR, 2)),
           "T2 embedding: one index", 4, 5);
    tn_tensor *turned = tn_transpose(counting(TN_SHAPE(2, 4)), 0, 1);
    EXPECT(tn_embedding(turned, INDICES(TN_SHAPE(2), 3, 1)),
           "T2 embedding: of a transposed weight", 3, 7, 1, 5);
  }
}

static void test_select(void)
{
  tn_with_scope {
    tn_tensor *t = counting(TN_SHAPE(2, 3, 2));
    tn_tensor *index = INDICES(TN_SHAPE(4), 2, 0, 0, 1);
    EXPECT(tn_index_select(t, 1, index), "T2 index_select: a middle dimension",
           4, 5, 0, 1, 0, 1, 2, 3, 10, 11, 6, 7, 6, 7, 8, 9);
    EXPECT(tn_index_select(t, 0, INDICES(TN_SHAPE(1), 1)),
           "T2 index_select: the first dimension", 6, 7, 8, 9, 10, 11);
    EXPECT(tn_index_select(tn_transpose(t, 0, 2), -1,
                           INDICES(TN_SHAPE(1), 1)),
           "T2 index_select: of a transposed tensor", 6, 8, 10, 7, 9, 11);
    tn_tensor *none = tn_index_select(t, 0, INDICES(TN_SHAPE(0), 0));
    tap_is_int(tn_numel(none), 0, "T6 index_select: no indices");
    const uint8_t bytes[] = { 1, 2, 3 };
    tn_tensor *u = tn_from_data(bytes, TN_SHAPE(3), .device = device,
                                .dtype = TN_U8);
    uint8_t got[2] = { 0 };
    tn_read(tn_index_select(u, 0, INDICES(TN_SHAPE(2), 2, 1)), got, 2);
    tap_ok(got[0] == 3 && got[1] == 2, "T2 index_select: bytes");
  }
}

static void test_gather(void)
{
  tn_with_scope {
    tn_tensor *t = counting(TN_SHAPE(2, 3));
    EXPECT(tn_gather(t, 1, INDICES(TN_SHAPE(2, 2), 2, 0, 1, 1)),
           "T2 gather: along the last dimension", 2, 0, 4, 4);
    EXPECT(tn_gather(t, 0, INDICES(TN_SHAPE(1, 3), 1, 0, 1)),
           "T2 gather: along the first", 3, 1, 5);
    EXPECT(tn_gather(t, 0, INDICES(TN_SHAPE(3, 1), 1, 0, 1)),
           "T2 gather: a smaller index", 3, 0, 3);
    EXPECT(tn_gather(tn_transpose(t, 0, 1), 0,
                     INDICES(TN_SHAPE(1, 2), 2, 1)),
           "T2 gather: of a transposed tensor", 2, 4);
  }
}

static void test_scatter(void)
{
  tn_with_scope {
    tn_tensor *t = counting(TN_SHAPE(2, 3));
    tn_tensor *index = INDICES(TN_SHAPE(2, 3), 0, 0, 2, 1, 1, 1);
    tn_tensor *values = FLOATS(TN_SHAPE(2, 3), 10, 20, 30, 40, 50, 60);
    EXPECT(tn_scatter_add(t, 1, index, values),
           "T2 scatter_add: along the last dimension", 30, 1, 32, 3, 154, 5);
    EXPECT(tn_scatter_add(t, 0, INDICES(TN_SHAPE(2, 2), 1, 0, 1, 1), values),
           "T2 scatter_add: a smaller index", 0, 21, 2, 53, 54, 5);
    EXPECT(t, "T2 scatter_add: its operand is as it was", 0, 1, 2, 3, 4, 5);
    tap_ok(tn_scatter_add_(t, 1, index, values) == t,
           "T2 scatter_add_ returns its operand");
    EXPECT(t, "T2 scatter_add_: in place", 30, 1, 32, 3, 154, 5);
    tn_tensor *turned = tn_transpose(counting(TN_SHAPE(2, 2)), 0, 1);
    tn_scatter_add_(turned, 0, INDICES(TN_SHAPE(1, 2), 1, 0),
                    FLOATS(TN_SHAPE(1, 2), 10, 20));
    EXPECT(turned, "T2 scatter_add_: into a transposed tensor", 0, 22, 11, 3);
  }
}

/* 1e8 + 1 - 1e8 is 0 in order, and 1 in another. */
static void test_order(void)
{
  tn_with_scope {
    enum { N = 1000 };
    int64_t at[N];
    float value[N], wanted[3] = { 0 };
    for (int i = 0; i < N; i++) {
      at[i] = i * 7919 % 3;
      value[i] = (i % 3 == 0 ? 1e8f : i % 3 == 1 ? 1.3f : -0.9e8f) *
                 (float)(i % 11 + 1);
      wanted[at[i]] += value[i];
    }
    tn_tensor *zeros = FLOATS(TN_SHAPE(3), 0, 0, 0);
    expect(tn_scatter_add(zeros, 0, indices(at, TN_SHAPE(N)),
                          floats(value, TN_SHAPE(N))),
           wanted, 3, "N1 scatter_add: sums are in the order of positions");
  }
}

static void test_join(void)
{
  tn_with_scope {
    tn_tensor *a = counting(TN_SHAPE(2, 2));
    tn_tensor *b = FLOATS(TN_SHAPE(2, 1), 8, 9);
    tn_tensor *both[] = { a, b }, *same[] = { a, tn_transpose(a, 0, 1) };
    tn_tensor *with_none[] = { FLOATS(TN_SHAPE(0), 0), a };
    EXPECT(tn_cat(both, 2, 1), "T2 cat: along the last dimension", 0, 1, 8, 2,
           3, 9);
    EXPECT(tn_cat(same, 2, 0), "T2 cat: along the first", 0, 1, 2, 3, 0, 2, 1,
           3);
    EXPECT(tn_cat(with_none, 2, 0), "T6 cat: one without elements", 0, 1, 2,
           3);
    EXPECT(tn_stack(same, 2, -1), "T2 stack: along a new last dimension", 0,
           0, 1, 2, 2, 1, 3, 3);
    tap_ok(!tn_cat(both, 2, 0) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 cat: other sizes differ");
    tap_ok(!tn_stack(both, 2, 0) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 stack: shapes differ");
    tn_tensor *many[150];
    for (int i = 0; i < 150; i++) many[i] = FLOATS(TN_SCALAR, (float)i);
    float wanted[150];
    for (int i = 0; i < 150; i++) wanted[i] = (float)i;
    expect(tn_stack(many, 150, 0), wanted, 150, "T2 stack: 150 tensors");
  }
}

static void test_triangles(void)
{
  tn_with_scope {
    tn_tensor *t = tn_transpose(counting(TN_SHAPE(3, 2)), 0, 1);
    EXPECT(tn_tril(t, 0), "T2 tril", 0, 0, 0, 1, 3, 0);
    EXPECT(tn_triu(t, 0), "T2 triu", 0, 2, 4, 0, 3, 5);
    EXPECT(tn_tril(t, 1), "T2 tril: a diagonal above", 0, 2, 0, 1, 3, 5);
    EXPECT(tn_triu(t, -1), "T2 triu: a diagonal below", 0, 2, 4, 1, 3, 5);
    int64_t got[8] = { 0 };
    tn_tensor *hot = tn_one_hot(INDICES(TN_SHAPE(2), 3, 1), 4);
    tn_read(hot, got, sizeof got);
    tap_ok(tn_numel(hot) == 8 && got[3] == 1 && got[5] == 1 &&
               got[0] + got[1] + got[2] + got[4] + got[6] + got[7] == 0,
           "T2 one_hot");
  }
}

static void test_range(void)
{
  tn_with_scope {
    tn_tensor *t = counting(TN_SHAPE(4, 2));
    tap_ok(!tn_embedding(t, INDICES(TN_SHAPE(3), 1, 4, 0)) &&
               tn_last_status() == TN_INVALID_ARGUMENT,
           "T2 embedding: an index outside");
    tap_is_text(tn_error_message(), "embedding: index 4 at position 1: size 4 "
                "has indices 0 to 3", "T2 embedding: the message");
    tap_ok(!tn_gather(t, 0, INDICES(TN_SHAPE(1, 1), -1)) &&
               tn_last_status() == TN_INVALID_ARGUMENT,
           "T2 gather: a negative index");
    tap_ok(!tn_scatter_add_(t, 0, INDICES(TN_SHAPE(1, 1), 9),
                            FLOATS(TN_SHAPE(1, 1), 1)),
           "T2 scatter_add_: an index outside");
    EXPECT(t, "T2 scatter_add_: which changes nothing", 0, 1, 2, 3, 4, 5, 6,
           7);
    tap_ok(!tn_index_select(t, 0, FLOATS(TN_SHAPE(1), 0)) &&
               tn_last_status() == TN_DTYPE_MISMATCH,
           "T2 index_select: indices that are floats");
  }
}

int main(void)
{
  device = test_device();
  test_embedding();
  test_select();
  test_gather();
  test_scatter();
  test_order();
  test_join();
  test_triangles();
  test_range();
  return tap_done();
}
