/* Trials of histograms and of the statistics of texts. */
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_reference.h"

enum { PAIRS = 65536 };

static const int64_t sizes[] = { 0, 1, 2, 3, 63, 1001, 70003, -1 };
static const int64_t bins[] = { 1, 3, 256, 65536, -1 };

static void histogram(kernel_trial *t)
{
  int64_t n = t->size, groups = 1 + trial_below(t, 20);
  trial_array *x = trial_bytes(t, n);
  trial_array *y = trial_zeros(t, 256, sizeof(uint32_t));
  uint32_t want[256] = { 0 };
  for (int64_t i = 0; i < n; i++) want[((uint8_t *)x->host)[i]]++;
  trial_launch_groups(t, "histogram_u8", groups,
                      TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x), TN_ARG_I64(n),
                              TN_ARG_I64(groups)));
  trial_expect_u32(t, y, want, 256);
}

/* Sums the groups' counts into totals that are not zero before. */
static void expect_totals(kernel_trial *t, trial_array *part, int64_t count,
                          int64_t groups, const uint32_t *want)
{
  trial_array *total = trial_zeros(t, count, sizeof(uint64_t));
  uint64_t *sum = trial_memory(count, sizeof *sum);
  for (int64_t b = 0; b < count; b++) {
    ((uint64_t *)total->host)[b] = UINT64_C(0xfffffff0) + (uint64_t)b;
    sum[b] = ((uint64_t *)total->host)[b] + want[b];
  }
  trial_upload(t, total);
  trial_launch(t, "counts_add", count,
               TN_ARGS(TRIAL_PTR(total), TRIAL_PTR(part), TN_ARG_I64(count),
                       TN_ARG_I64(groups)));
  trial_expect_u64(t, total, sum, count);
  free(sum);
}

static void bytes_count(kernel_trial *t)
{
  int64_t n = t->size, groups = 1 + trial_below(t, 20);
  trial_array *x = trial_bytes(t, n);
  trial_array *part = trial_output(t, groups * 256, sizeof(uint32_t));
  uint32_t want[256] = { 0 };
  for (int64_t i = 0; i < n; i++) want[((uint8_t *)x->host)[i]]++;
  trial_launch_groups(t, "bytes_count", groups,
                      TN_ARGS(TRIAL_PTR(part), TRIAL_PTR(x), TN_ARG_I64(n),
                              TN_ARG_I64(groups)));
  expect_totals(t, part, 256, groups, want);
}

static void pairs_count(kernel_trial *t)
{
  int64_t n = t->size, groups = 1 + trial_below(t, 5);
  int32_t before = (int32_t)trial_below(t, 257) - 1;
  trial_array *x = trial_bytes(t, n);
  trial_array *part = trial_output(t, groups * PAIRS, sizeof(uint32_t));
  uint32_t *want = trial_memory(PAIRS, sizeof *want);
  int32_t last = before;
  for (int64_t i = 0; i < n; i++) {
    int32_t byte = ((uint8_t *)x->host)[i];
    if (last >= 0) want[last * 256 + byte]++;
    last = byte;
  }
  trial_launch_groups(t, "pairs_count", groups,
                      TN_ARGS(TRIAL_PTR(part), TRIAL_PTR(x), TN_ARG_I64(n),
                              TN_ARG_I32(before), TN_ARG_I64(groups)));
  expect_totals(t, part, PAIRS, groups, want);
  free(want);
}

/* A text in two pieces, the second one first. */
static void hash_count(kernel_trial *t)
{
  int64_t n = t->size, groups = 1 + trial_below(t, 20);
  int64_t cut = trial_below(t, n + 1), offset = trial_below(t, 1 << 30);
  trial_array *x = trial_bytes(t, n);
  trial_array *part = trial_output(t, groups, sizeof(uint64_t));
  trial_array *total = trial_zeros(t, 1, sizeof(uint64_t));
  uint64_t want = ref_hash(x->host, n, (uint64_t)offset);
  for (int piece = 1; piece >= 0; piece--) {
    int64_t from = piece ? cut : 0, length = piece ? n - cut : cut;
    trial_launch_groups(
        t, "hash_count", groups,
        TN_ARGS(TRIAL_PTR(part), TRIAL_AT(x, uint8_t, from),
                TN_ARG_I64(length), TN_ARG_I64(offset + from),
                TN_ARG_I64(groups)));
    trial_launch(t, "hash_add", 1,
                 TN_ARGS(TRIAL_PTR(total), TRIAL_PTR(part),
                         TN_ARG_I64(groups)));
  }
  trial_expect_u64(t, total, &want, 1);
}

static void entropy_terms(kernel_trial *t)
{
  int64_t n = t->size;
  trial_array *count = trial_zeros(t, n, sizeof(uint64_t));
  trial_array *y = trial_output(t, n, sizeof(float));
  uint64_t *counts = count->host, total = 1;
  for (int64_t b = 0; b < n; b++) {
    int64_t width = trial_below(t, 40);
    counts[b] = trial_random(t) >> 24 >> width;
    if (trial_below(t, 3) == 0) counts[b] = 0;
    total += counts[b];
  }
  trial_upload(t, count);
  float *want = trial_memory(n, sizeof *want);
  for (int64_t b = 0; b < n; b++) want[b] = ref_entropy_term(counts[b], total);
  trial_launch(t, "entropy_terms", n,
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(count), TN_ARG_I64(n),
                       TN_ARG_I64((int64_t)total)));
  trial_expect_f32(t, y, want, n);
  free(want);
}

const kernel_case bytes_cases[] = {
  { "histogram_u8", "histogram", histogram, NULL, sizes, TRIAL_WIDE },
  { "bytes_count", "bytes", bytes_count, NULL, sizes, TRIAL_WIDE },
  { "pairs_count", "bytes", pairs_count, NULL, sizes, TRIAL_WIDE },
  { "hash_count", "bytes", hash_count, NULL, sizes, TRIAL_WIDE },
  { "entropy_terms", "bytes", entropy_terms, NULL, bins, TRIAL_WIDE },
  { 0 }
};
