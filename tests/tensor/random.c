/* Random tensors and generators: the same stream on every device (rules N1,
 * A236-A239). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/numbers_reference.h"
#include "tests/tap.h"

static tn_device device;

static bool reads_as(tn_tensor *t, const float *want, int64_t n)
{
  float *got = calloc((size_t)n, sizeof *got);
  bool same = t && tn_numel(t) == n &&
              tn_read(t, got, (size_t)n * sizeof *got) == TN_OK &&
              memcmp(got, want, (size_t)n * sizeof *got) == 0;
  if (!same) tap_note("%s", t ? "other numbers" : tn_error_message());
  free(got);
  return same;
}

static void test_streams(void)
{
  float want[30];
  tn_with_scope {
    tn_manual_seed(42);
    for (int i = 0; i < 30; i++) want[i] = ref_uniform(42, 0, i);
    tap_ok(reads_as(tn_rand(TN_SHAPE(5, 6), .device = device), want, 30),
           "N1 rand gives the stream of the seed from its begin");
    for (int i = 0; i < 30; i++) want[i] = ref_normal(42, 8, i);
    tap_ok(reads_as(tn_randn(TN_SHAPE(30), .device = device), want, 30),
           "N1 randn goes on where rand has ended");
    tn_manual_seed(42);
    for (int i = 0; i < 30; i++) want[i] = ref_uniform(42, 0, i);
    tn_tensor *like = tn_empty(TN_SHAPE(30), .device = device);
    tap_ok(reads_as(tn_rand_like(like), want, 30),
           "A238 the same seed gives the same numbers");
    for (int i = 0; i < 30; i++)
      want[i] = fmaf(ref_uniform(42, 8, i), 4, -1);
    tap_ok(tn_uniform_(like, -1, 3, NULL) == like && reads_as(like, want, 30),
           "N1 uniform_ fills between two bounds");
    for (int i = 0; i < 30; i++)
      want[i] = fmaf(ref_normal(42, 16, i), 0.5f, 10);
    tap_ok(tn_normal_(like, 10, 0.5, NULL) == like &&
             reads_as(like, want, 30),
           "N1 normal_ takes mean and deviation");
  }
}

static void test_layout(void)
{
  float want[6];
  for (int i = 0; i < 6; i++) want[i] = ref_uniform(9, 0, i);
  tn_with_scope {
    tn_manual_seed(9);
    tn_tensor *turned =
        tn_transpose(tn_zeros(TN_SHAPE(3, 2), .device = device), 0, 1);
    tap_ok(tn_uniform_(turned, 0, 1, NULL) && reads_as(turned, want, 6),
           "N1 elements are filled in row order, wherever they lie");
  }
}

static void test_f64(void)
{
  tn_device_info info;
  if (tn_device_get_info(device, &info) != TN_OK || !info.f64) {
    tap_skip("N1 %s has no f64", info.name);
    return;
  }
  double got[3] = { 0 };
  tn_with_scope {
    tn_manual_seed(3);
    tn_tensor *t = tn_rand(TN_SHAPE(3), .device = device, .dtype = TN_F64);
    tap_ok(t && tn_read(t, got, sizeof got) == TN_OK, "N1 rand of f64");
    for (int i = 0; i < 3; i++) {
      tap_ok(got[i] == ref_uniform_f64(3, 0, i),
             "N1 element %d takes two words", i);
    }
    uint64_t seed = 0, offset = 0;
    tn_generator_state(tn_generator_default(device), &seed, &offset);
    tap_ok(seed == 3 && offset == 2, "N1 and the stream advances by them");
  }
}

static void test_generators(void)
{
  tn_generator *own = tn_generator_new(device);
  tap_ok(own && tn_generator_seed(own, 42) == TN_OK &&
           tn_generator_initial_seed(own) == 42,
         "A239 a generator's seed reads back");
  tn_generator_set_state(own, 42, 100);
  uint64_t seed = 0, offset = 0;
  tn_generator_state(own, &seed, &offset);
  tap_ok(seed == 42 && offset == 100, "A237 as does its offset");
  tn_with_scope {
    float want[8];
    for (int i = 0; i < 8; i++) want[i] = ref_uniform(42, 100, i);
    tn_tensor *t = tn_empty(TN_SHAPE(8), .device = device);
    tap_ok(tn_uniform_(t, 0, 1, own) && reads_as(t, want, 8),
           "N1 a generator of one's own");
    tn_device second = test_second_device();
    if (tn_device_equal(second, (tn_device){ 0, 0 }))
      tap_skip("A237 there is one device");
    else {
      tn_tensor *other = tn_empty(TN_SHAPE(8), .device = second);
      tap_ok(!tn_uniform_(other, 0, 1, own) &&
               tn_last_status() == TN_DEVICE_MISMATCH,
             "A237 not for another device: %s", tn_error_message());
      tn_clear_error();
    }
  }
  tn_generator_release(own);
  tn_generator_release(tn_generator_default(device));
  tap_ok(tn_generator_default(device) != NULL,
         "A239 the default one cannot be released");
}

static void test_refused(void)
{
  tn_with_scope {
    tap_ok(!tn_rand(TN_SHAPE(2), .device = device, .dtype = TN_I64) &&
             tn_last_status() == TN_DTYPE_MISMATCH,
           "N1 integers are refused: %s", tn_error_message());
    tn_tensor *t = tn_zeros(TN_SHAPE(2), .device = device);
    tap_ok(!tn_uniform_(t, 2, 1, NULL), "N1 bounds in their order: %s",
           tn_error_message());
    tap_ok(!tn_normal_(t, 0, -1, NULL), "N1 no negative deviation: %s",
           tn_error_message());
    tn_clear_error();
  }
}

int main(void)
{
  device = test_device();
  test_streams();
  test_layout();
  test_f64();
  test_generators();
  test_refused();
  return tap_done();
}
