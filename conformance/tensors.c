/* Rules T6 to T8: empty tensors and sizes, memory that elements share, and
 * random numbers. */
#include "config.h"

#include <math.h>
#include <stdint.h>

#include "conformance/values.h"

/* ---- T6 ---- */

static tn_tensor *empty(int64_t rows, int64_t columns)
{
  return conform_made(tn_empty(TN_SHAPE(rows, columns),
                               .device = conform_device), "an empty tensor");
}

static void run_empty(void)
{
  tn_tensor *none = tn_empty(TN_SHAPE(0), .device = conform_device);
  tn_sum(none);
  conform_ok(tn_synchronize(conform_device), "synchronising");
  size_t before = tn_memory_allocated(conform_device);
  tn_tensor *x = empty(0, 3), *y = empty(0, 3);
  tn_tensor *made[] = {
    tn_add(x, y), tn_exp(x), tn_relu_(x), tn_clone(x), tn_softmax(x, 1),
    tn_matmul(empty(0, 3), empty(3, 0)), tn_to(x, .dtype = TN_I64),
    tn_cumsum(x, 1), tn_copy_(x, y), tn_to(x, .device = tn_device_of("cpu")),
    tn_cat((tn_tensor *[]){ x, y }, 2, 0), tn_transpose(x, 0, 1),
  };
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    conform_check(made[i] && tn_numel(made[i]) == 0,
                  "operation %zu on empty tensors", i);
  conform_check(tn_memory_allocated(conform_device) == before,
                "empty tensors have %zu bytes",
                tn_memory_allocated(conform_device) - before);
  conform_ok(tn_read(x, NULL, 0), "reading none");
  conform_is_all(tn_sum(x), 0, "the sum of none");
  conform_is_all(tn_prod(x), 1, "the product of none");
  conform_is_all(tn_mean(x), (double)NAN, "the mean of none");
  conform_is_all(tn_matmul(empty(2, 0), empty(0, 2)), 0,
                 "a product over nothing");
}

static void run_overflow(void)
{
  const int64_t huge = INT64_MAX / 2;
  tn_tensor *one = conform_filled(1, 1);
  tn_clear_error();
  conform_check(!tn_empty(TN_SHAPE(huge, huge), .device = conform_device),
                "a tensor of 2^124 elements");
  conform_check(!tn_empty(TN_SHAPE(huge), .device = conform_device),
                "a tensor of 2^64 bytes");
  conform_check(!tn_as_strided(one, TN_SHAPE(2, 2), TN_SHAPE(huge, huge), 0),
                "strides whose sum is beyond all numbers");
  conform_check(!tn_expand(one, TN_SHAPE(huge, huge, huge)),
                "a view of 2^186 elements");
  conform_is_all(one, 1, "what was refused does no harm");
}

/* ---- T7 ---- */

static void run_overlap(void)
{
  enum { N = 5000 };
  static double wanted[N];
  tn_tensor *x = conform_ramp(TN_SHAPE(N));
  tn_copy_(tn_slice(x, 0, 7, N, 1), tn_slice(x, 0, 0, N - 7, 1));
  for (int i = 0; i < N; i++) wanted[i] = i < 7 ? i : i - 7;
  conform_are(x, wanted, N, "a copy of a tensor onto itself, forwards");
  x = conform_ramp(TN_SHAPE(N));
  tn_copy_(tn_slice(x, 0, 0, N - 7, 1), tn_slice(x, 0, 7, N, 1));
  for (int i = 0; i < N; i++) wanted[i] = i < N - 7 ? i + 7 : i;
  conform_are(x, wanted, N, "backwards");
  x = conform_ramp(TN_SHAPE(60, 60));
  tn_copy_(x, tn_transpose(x, 0, 1));
  for (int i = 0; i < 3600; i++) wanted[i] = i % 60 * 60 + i / 60;
  conform_are(x, wanted, 3600, "a copy of a matrix's transpose onto it");
}

static void run_shared(void)
{
  tn_tensor *row = conform_filled(3, 1);
  tn_tensor *wide = tn_expand(row, TN_SHAPE(4, 3));
  tn_clear_error();
  conform_check(!tn_add_scalar_(wide, 1) && tn_last_status() != TN_OK,
                "a change of elements that share memory is refused");
  conform_check(!tn_copy_(wide, conform_ramp(TN_SHAPE(4, 3))),
                "so is a copy to them");
  conform_check(!tn_exp_out(wide, conform_ramp(TN_SHAPE(4, 3))),
                "and a result");
  conform_is_all(row, 1, "what was refused changes nothing");
}

/* ---- T8 ---- */

static void run_numbers(void)
{
  tn_device cpu = conform_cpu();
  static const int64_t counts[] = { 1, 4, 7, 33, 1000, 4099 };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tn_tensor *made[2][3];
    uint64_t seed = (uint64_t)conform_random(1u << 31) << 20 | i;
    for (int k = 0; k < 2; k++) {
      tn_device device = k ? cpu : conform_device;
      tn_manual_seed(seed);
      made[k][0] = tn_rand(TN_SHAPE(counts[i]), .device = device);
      made[k][1] = tn_randn(TN_SHAPE(counts[i]), .device = device);
      made[k][2] = tn_dropout(tn_ones_like(made[k][0]), 0.5, true);
    }
    for (int k = 0; k < 3; k++)
      conform_alike(made[0][k], made[1][k], "%s: %lld random numbers as on "
                    "cpu, seed %llu", k == 0 ? "uniform" : k == 1 ? "normal"
                    : "dropout", (long long)counts[i],
                    (unsigned long long)seed);
  }
}

/* Philox 4x32-10 with counter 0 and key 0, by the authors' test vectors, of
 * which the upper 24 bits count. */
static void run_vector(void)
{
  static const uint32_t words[] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                    0x9b00dbd8 };
  double wanted[4];
  for (int i = 0; i < 4; i++) wanted[i] = (words[i] >> 8) / 16777216.0;
  tn_manual_seed(0);
  conform_are(tn_rand(TN_SHAPE(4), .device = conform_device), wanted, 4,
              "the first numbers of seed 0");
}

static void run_again(void)
{
  uint64_t seed, offset, later;
  tn_generator *own = tn_generator_default(conform_device);
  tn_manual_seed(77);
  tn_tensor *first = tn_rand(TN_SHAPE(100), .device = conform_device);
  conform_ok(tn_generator_state(own, &seed, &offset), "a state");
  tn_tensor *second = tn_rand(TN_SHAPE(100), .device = conform_device);
  conform_ok(tn_generator_state(own, &seed, &later), "a state");
  conform_check(seed == 77 && later > offset && offset > 0,
                "drawing moves the generator");
  conform_ok(tn_generator_set_state(own, seed, offset), "an older state");
  conform_alike(tn_rand(TN_SHAPE(100), .device = conform_device), second,
                "numbers of an older state");
  tn_manual_seed(77);
  conform_alike(tn_rand(TN_SHAPE(100), .device = conform_device), first,
                "numbers of the seed again");
  conform_is_all(tn_any(tn_eq(first, second)), 0, "numbers come only once");
}

#define V CONFORM_TENSOR_BIT
static const conform_test tests[] = {
  { "T6", "empty", CONFORM_FULL, V | CONFORM_MEMORY_BIT, false,
    "empty tensors work and take no memory", run_empty },
  { "T6", "overflow", CONFORM_FULL, V, false,
    "sizes that overflow are refused", run_overflow },
  { "T7", "overlap", CONFORM_FULL, V | CONFORM_COPY_BIT, false,
    "tensors copied onto themselves", run_overlap },
  { "T7", "shared", CONFORM_FULL, V, false,
    "elements that share memory are not written to", run_shared },
  { "T8", "numbers", CONFORM_FULL, V, false,
    "random numbers are cpu's", run_numbers },
  { "T8", "vector", CONFORM_FULL, V, false,
    "and those of Philox 4x32-10", run_vector },
  { "T8", "again", CONFORM_FULL, V, false,
    "seeds and states give them again", run_again },
};
CONFORM_SECTION(conform_tensors, tests);
