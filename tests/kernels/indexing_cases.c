/* Trials of elements by index, of the sort and of sums by index. */
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/cases.h"

static const int64_t sizes[] = { 1, 2, 9, 40, -1 };
static const int64_t lengths[] = { 1, 2, 255, 256, 257, 3000, -1 };
static const int size_1 = 1, size_4 = 4, size_8 = 8;

/* Indices below count, one in eight outside if some are to be. */
static trial_array *indices(kernel_trial *t, int64_t n, int64_t count,
                            bool outside)
{
  trial_array *index = trial_zeros(t, n, sizeof(int64_t));
  for (int64_t i = 0; i < n; i++) {
    int64_t own = trial_below(t, count);
    if (outside && trial_below(t, 8) == 0)
      own = trial_below(t, 2) ? -1 - own : count + own;
    ((int64_t *)index->host)[i] = own;
  }
  trial_upload(t, index);
  return index;
}

/* Four dimensions, and strides of random order and gaps. */
typedef struct walk {
  int64_t size[4], stride[3][4], extent[3];
} walk;

/* `free`: the dimension along which operand 1 does not move. */
static walk random_walk(kernel_trial *t, int free)
{
  walk w;
  for (int d = 0; d < 4; d++)
    w.size[d] = 1 + trial_below(t, d == 3 ? t->size : 4);
  for (int o = 0; o < 3; o++) {
    int64_t step = 1 + (trial_below(t, 3) == 0), first = trial_below(t, 4);
    w.extent[o] = 1;
    for (int n = 0; n < 4; n++) {
      int d = (int)((first + n) % 4);
      bool still = o == 1 && d == free;
      if (o == 2) still = trial_below(t, 3) == 0;
      w.stride[o][d] = still ? 0 : step;
      w.extent[o] += still ? 0 : (w.size[d] - 1) * step;
      if (!still) step = step * w.size[d] + trial_below(t, 2);
    }
  }
  return w;
}

static int64_t place_of(const walk *w, int o, int64_t e)
{
  int64_t at = 0;
  for (int d = 3; d >= 0; d--) {
    at += e % w->size[d] * w->stride[o][d];
    e /= w->size[d];
  }
  return at;
}

static int64_t elements(const walk *w)
{
  return w->size[0] * w->size[1] * w->size[2] * w->size[3];
}

#define ARG_SIZES(w) TN_ARG_I64((w).size[0]), TN_ARG_I64((w).size[1]), \
  TN_ARG_I64((w).size[2]), TN_ARG_I64((w).size[3])
#define ARG_STRIDES(w, o) TN_ARG_I64((w).stride[o][0]), \
  TN_ARG_I64((w).stride[o][1]), TN_ARG_I64((w).stride[o][2]), \
  TN_ARG_I64((w).stride[o][3])

/* Random bytes for n elements of `size`, in whole words. */
static trial_array *filled(kernel_trial *t, int64_t n, int size)
{
  return trial_bytes(t, (n * size + 3) / 4 * 4);
}

static void expect_bytes(kernel_trial *t, trial_array *array,
                         const void *want)
{
  trial_expect_u32(t, array, want, (int64_t)array->bytes / 4);
}

static void take(kernel_trial *t)
{
  int size = *(const int *)t->of->detail;
  char name[20] = "take_b_";
  name[6] = (char)('0' + size);
  walk w = random_walk(t, (int)trial_below(t, 4));
  int64_t count = 1 + trial_below(t, 9);
  trial_array *x = filled(t, w.extent[1] * count, size);
  trial_array *y = filled(t, w.extent[0], size);
  trial_array *index = indices(t, w.extent[2], count, true);
  uint8_t *want = trial_memory((int64_t)y->bytes, 1);
  memcpy(want, y->host, y->bytes);
  for (int64_t e = 0; e < elements(&w); e++) {
    int64_t own = ((int64_t *)index->host)[place_of(&w, 2, e)];
    uint8_t *to = want + place_of(&w, 0, e) * size;
    if (own < 0 || own >= count)
      memset(to, 0, (size_t)size);
    else
      memcpy(to, (uint8_t *)x->host +
                     (place_of(&w, 1, e) + own * w.extent[1]) * size,
             (size_t)size);
  }
  trial_launch(t, name, elements(&w),
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x), TRIAL_PTR(index),
                       ARG_SIZES(w), ARG_STRIDES(w, 0), ARG_STRIDES(w, 1),
                       ARG_STRIDES(w, 2), TN_ARG_I64(w.extent[1]),
                       TN_ARG_I64(count)));
  expect_bytes(t, y, want);
  free(want);
}

static void index_check(kernel_trial *t)
{
  walk w = random_walk(t, 0);
  int64_t count = 1 + trial_below(t, 9);
  trial_array *index = indices(t, w.extent[2], count, trial_below(t, 2));
  trial_array *report = trial_zeros(t, 1, sizeof(uint32_t));
  uint32_t want = 0;
  for (int64_t e = 0; e < elements(&w); e++) {
    int64_t own = ((int64_t *)index->host)[place_of(&w, 2, e)];
    want += own < 0 || own >= count;
  }
  trial_launch(t, "index_check", elements(&w),
               TN_ARGS(TRIAL_PTR(report), TRIAL_PTR(index), ARG_SIZES(w),
                       ARG_STRIDES(w, 2), TN_ARG_I64(count)));
  trial_expect_u32(t, report, &want, 1);
}

static void scatter_keys(kernel_trial *t)
{
  walk w = random_walk(t, 0);
  int64_t count = 1 + trial_below(t, 9), n = elements(&w);
  int64_t along = w.extent[0], limit = along * count;
  int64_t left_out = trial_below(t, count + 1) - 1;
  trial_array *index = indices(t, w.extent[2], count, true);
  trial_array *key = trial_output(t, n, 8), *order = trial_output(t, n, 8);
  uint64_t *want = trial_memory(n, sizeof *want);
  for (int64_t e = 0; e < n; e++) {
    int64_t own = ((int64_t *)index->host)[place_of(&w, 2, e)];
    bool is_there = own >= 0 && own < count && own != left_out;
    want[e] = (uint64_t)(is_there ? place_of(&w, 0, e) + own * along : limit);
  }
  trial_launch(t, "scatter_keys", n,
               TN_ARGS(TRIAL_PTR(key), TRIAL_PTR(order), TRIAL_PTR(index),
                       ARG_SIZES(w), ARG_STRIDES(w, 0), ARG_STRIDES(w, 2),
                       TN_ARG_I64(along), TN_ARG_I64(count),
                       TN_ARG_I64(left_out), TN_ARG_I64(limit)));
  trial_expect_u64(t, key, want, n);
  for (int64_t e = 0; e < n; e++) want[e] = (uint64_t)e;
  trial_expect_u64(t, order, want, n);
  free(want);
}

/* Keys and positions, before or after. */
typedef struct sorted {
  trial_array *key, *order;
} sorted;

static sorted sort(kernel_trial *t, sorted from, int64_t n, int64_t limit)
{
  int64_t chunks = (n + 255) / 256;
  sorted to = { trial_output(t, n, 8), trial_output(t, n, 8) };
  trial_array *count = trial_output(t, 256 * chunks, 8);
  for (int64_t shift = 0; shift < 64 && limit >> shift; shift += 8) {
    trial_launch(t, "sort_count", chunks,
                 TN_ARGS(TRIAL_PTR(count), TRIAL_PTR(from.key), TN_ARG_I64(n),
                         TN_ARG_I64(shift)));
    trial_launch_groups(t, "sort_scan", 1,
                        TN_ARGS(TRIAL_PTR(count), TN_ARG_I64(n)));
    trial_launch(t, "sort_place", chunks,
                 TN_ARGS(TRIAL_PTR(to.key), TRIAL_PTR(to.order),
                         TRIAL_PTR(count), TRIAL_PTR(from.key),
                         TRIAL_PTR(from.order), TN_ARG_I64(n),
                         TN_ARG_I64(shift)));
    sorted other = from;
    from = to;
    to = other;
  }
  return from;
}

static sorted random_keys(kernel_trial *t, int64_t n, int64_t limit)
{
  sorted s = { indices(t, n, limit + 1, false), trial_zeros(t, n, 8) };
  for (int64_t i = 0; i < n; i++) ((int64_t *)s.order->host)[i] = i;
  trial_upload(t, s.order);
  return s;
}

/* Keys and positions as sorting leaves them: insertion keeps equal ones in
 * order. */
static void sort_on_host(const trial_array *from, int64_t n, uint64_t *key,
                         uint64_t *order)
{
  const uint64_t *own = from->host;
  for (int64_t p = 0; p < n; p++) {
    int64_t at = p;
    for (; at > 0 && key[at - 1] > own[p]; at--) {
      key[at] = key[at - 1];
      order[at] = order[at - 1];
    }
    key[at] = own[p];
    order[at] = (uint64_t)p;
  }
}

static void sort_all(kernel_trial *t)
{
  int64_t n = t->size;
  uint64_t bits = trial_random(t); /* two draws, in this order */
  int64_t limit = 1 + (int64_t)(bits >> trial_below(t, 60) >> 4);
  sorted before = random_keys(t, n, limit);
  uint64_t *key = trial_memory(n, 8), *order = trial_memory(n, 8);
  sort_on_host(before.key, n, key, order);
  sorted after = sort(t, before, n, limit);
  trial_expect_u64(t, after.key, key, n);
  trial_expect_u64(t, after.order, order, n);
  free(key);
  free(order);
}

static sorted sorted_keys(kernel_trial *t, const sorted *from, int64_t n)
{
  sorted to = { trial_zeros(t, n, 8), trial_zeros(t, n, 8) };
  sort_on_host(from->key, n, to.key->host, to.order->host);
  trial_upload(t, to.key);
  trial_upload(t, to.order);
  return to;
}

/* y[key] += x, in order of positions. */
#define SCATTER_CASE(suffix, type, unsign, make, expect)                    \
  static void scatter_##suffix(kernel_trial *t)                             \
  {                                                                         \
    int64_t n = t->size, limit = 1 + trial_below(t, 300);                   \
    int64_t columns = 1 + trial_below(t, n > 1000 ? 5 : 100);               \
    int64_t x_row = columns + trial_below(t, 2);                            \
    int64_t y_row = (columns + 3) / 4 * 4;                                  \
    sorted s = random_keys(t, n, limit);                                    \
    trial_array *x = make(t, n * x_row), *y = make(t, limit * y_row);       \
    type *want = trial_memory(limit * y_row, sizeof *want);                 \
    memcpy(want, y->host, (size_t)(limit * y_row) * sizeof *want);          \
    for (int64_t p = 0; p < n; p++) {                                       \
      int64_t own = ((int64_t *)s.key->host)[p];                            \
      for (int64_t c = 0; own < limit && c < columns; c++)                  \
        want[own * y_row + c] =                                             \
            (type)((unsign)want[own * y_row + c] +                          \
                   (unsign)((type *)x->host)[p * x_row + c]);               \
    }                                                                       \
    s = sorted_keys(t, &s, n);                                              \
    trial_launch(t, "scatter_" #suffix, n * ((columns + 63) / 64),          \
                 TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x), TRIAL_PTR(s.key),      \
                         TRIAL_PTR(s.order), TN_ARG_I64(n),                 \
                         TN_ARG_I64(columns), TN_ARG_I64(limit),            \
                         TN_ARG_I64(y_row), TN_ARG_I64(x_row)));            \
    expect(t, y, want, limit * y_row);                                      \
    free(want);                                                             \
  }

static trial_array *integers(kernel_trial *t, int64_t n, size_t size)
{
  trial_array *array = trial_zeros(t, n, size);
  for (size_t i = 0; i < array->bytes; i++)
    ((uint8_t *)array->host)[i] = (uint8_t)trial_random(t);
  trial_upload(t, array);
  return array;
}

static trial_array *of_8_bytes(kernel_trial *t, int64_t n)
{
  return integers(t, n, 8);
}

static trial_array *of_4_bytes(kernel_trial *t, int64_t n)
{
  return integers(t, n, 4);
}

static void expect_u8(kernel_trial *t, trial_array *array, const void *want,
                      int64_t n)
{
  (void)n;
  expect_bytes(t, array, want);
}

SCATTER_CASE(f32, float, float, trial_floats, trial_expect_f32)
SCATTER_CASE(f64, double, double, trial_doubles, trial_expect_f64)
SCATTER_CASE(i64, uint64_t, uint64_t, of_8_bytes, trial_expect_u64)
SCATTER_CASE(i32, uint32_t, uint32_t, of_4_bytes, trial_expect_u32)
SCATTER_CASE(u8, uint8_t, uint32_t, trial_bytes, expect_u8)

static void triangle(kernel_trial *t)
{
  int size = *(const int *)t->of->detail;
  char name[20] = "triangle_b_";
  name[10] = (char)('0' + size);
  walk w = random_walk(t, -1);
  int64_t low = trial_below(t, 9) - 6, high = low + trial_below(t, 9) - 1;
  trial_array *x = filled(t, w.extent[1], size);
  trial_array *y = filled(t, w.extent[0], size);
  uint8_t *want = trial_memory((int64_t)y->bytes, 1);
  memcpy(want, y->host, y->bytes);
  for (int64_t e = 0; e < elements(&w); e++) {
    int64_t off = e % w.size[3] - e / w.size[3] % w.size[2];
    uint8_t *to = want + place_of(&w, 0, e) * size;
    memcpy(to, (uint8_t *)x->host + place_of(&w, 1, e) * size, (size_t)size);
    if (off < low || off > high) memset(to, 0, (size_t)size);
  }
  trial_launch(t, name, elements(&w),
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x), ARG_SIZES(w),
                       ARG_STRIDES(w, 0), ARG_STRIDES(w, 1), TN_ARG_I64(low),
                       TN_ARG_I64(high)));
  expect_bytes(t, y, want);
  free(want);
}

static void one_hot(kernel_trial *t)
{
  int64_t n = t->size, classes = 1 + trial_below(t, 20);
  trial_array *index = indices(t, n, classes, true);
  trial_array *y = trial_output(t, n * classes, 8);
  uint64_t *want = trial_memory(n * classes, sizeof *want);
  for (int64_t e = 0; e < n * classes; e++)
    want[e] = ((int64_t *)index->host)[e / classes] == e % classes;
  trial_launch(t, "one_hot_i64", n * classes,
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(index), TN_ARG_I64(n),
                       TN_ARG_I64(classes)));
  trial_expect_u64(t, y, want, n * classes);
  free(want);
}

#define INDEXING(name, run, detail, sizes) \
  { name, "indexing", run, detail, sizes, TRIAL_WIDE }
const kernel_case indexing_cases[] = {
  INDEXING("take_b1", take, &size_1, sizes),
  INDEXING("take_b4", take, &size_4, sizes),
  INDEXING("take_b8", take, &size_8, sizes),
  INDEXING("index_check", index_check, NULL, sizes),
  INDEXING("scatter_keys", scatter_keys, NULL, sizes),
  INDEXING("sort", sort_all, NULL, lengths),
  { "scatter_f32", "indexing", scatter_f32, NULL, lengths, TRIAL_FLAVOURS },
  INDEXING("scatter_i64", scatter_i64, NULL, lengths),
  INDEXING("scatter_i32", scatter_i32, NULL, lengths),
  INDEXING("scatter_u8", scatter_u8, NULL, lengths),
  INDEXING("triangle_b1", triangle, &size_1, sizes),
  INDEXING("triangle_b4", triangle, &size_4, sizes),
  INDEXING("triangle_b8", triangle, &size_8, sizes),
  INDEXING("one_hot_i64", one_hot, NULL, sizes),
  { 0 }
};

const kernel_case indexing_f64_cases[] = {
  { "scatter_f64", "indexing_f64", scatter_f64, NULL, lengths,
    TRIAL_FLAVOURS },
  { 0 }
};
