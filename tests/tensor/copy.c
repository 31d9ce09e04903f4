/* Copies, casts, moves between devices, and tensors of given values (rules
 * T1, T4, T5, T7, S2, N4, R23). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>

#include "tests/tap.h"
#include "tests/tensor/values.h"

static tn_device device;
static tn_dtype widest; /* that the device has */

static bool is_here(tn_dtype dtype)
{
  return dtype != TN_F64 || widest == TN_F64;
}

static tn_tensor *vector(tn_dtype dtype, const double *values, int count)
{
  return values_tensor(device, dtype, TN_SHAPE(count), values);
}

static const tn_dtype dtypes[] = { TN_F32, TN_F64, TN_I64,
                                   TN_I32, TN_U8,  TN_BOOL };

/* Every pair, of a strided tensor. */
static void test_casts(void)
{
  static const double plain[] = { 0, 7, 1, 7, 100, 7, 3, 7 };
  static const double truth[] = { 0, 0, 1, 0, 1, 0, 1, 0 };
  for (int i = 0; i < 6; i++) tn_with_scope {
    bool good = true;
    if (!is_here(dtypes[i])) {
      tap_skip("N4 casts of f64: the device has none");
      continue;
    }
    const double *from = dtypes[i] == TN_BOOL ? truth : plain;
    tn_tensor *t = values_tensor(device, dtypes[i], TN_SHAPE(4, 2), from);
    t = tn_select(t, 1, 0);
    for (int j = 0; j < 6; j++) {
      if (!is_here(dtypes[j])) continue;
      tn_tensor *y = tn_to(t, .dtype = dtypes[j]);
      bool is_truth = dtypes[i] == TN_BOOL || dtypes[j] == TN_BOOL;
      good &= tn_dtype_of(y) == dtypes[j] &&
              (is_truth ? values_are(y, VALUES(0, 1, 1, 1))
                        : values_are(y, VALUES(0, 1, 100, 3)));
    }
    tap_ok(good, "N4 casts of %s to every dtype", tn_dtype_name(dtypes[i]));
  }
}

static void test_saturation(void)
{
  tn_tensor *x = vector(TN_F32, VALUES(-1e20, -2.7, -0.5, 2.7, 300, 1e20,
                                       NAN, INFINITY));
  const double most = 0x1p63, least = -0x1p63;
  tap_ok(values_are(tn_to(x, .dtype = TN_I64),
                    VALUES(least, -2, 0, 2, 300, most, 0, most)),
         "N4 to i64: what is outside becomes the nearest end, NaN 0");
  tap_ok(values_are(tn_to(x, .dtype = TN_I32),
                    VALUES(INT32_MIN, -2, 0, 2, 300, INT32_MAX, 0,
                           INT32_MAX)), "N4 to i32");
  tap_ok(values_are(tn_to(x, .dtype = TN_U8),
                    VALUES(0, 0, 0, 2, 255, 255, 0, 255)), "N4 to u8");
  tap_ok(values_are(tn_to(x, .dtype = TN_BOOL),
                    VALUES(1, 1, 1, 1, 1, 1, 1, 1)), "N4 to bool");
  tn_tensor *i = vector(TN_I64, VALUES(-1, 256, 4294967301.0));
  tap_ok(values_are(tn_to(i, .dtype = TN_U8), VALUES(255, 0, 5)) &&
             values_are(tn_to(i, .dtype = TN_I32), VALUES(-1, 256, 5)),
         "N4 integers wrap");
}

static void test_same(void)
{
  tn_tensor *t = tn_ones(TN_SHAPE(2, 3), .device = device);
  tap_ok(tn_to(t, .device = device, .dtype = TN_F32) == t,
         "T4 to gives the same tensor when nothing changes");
  tn_tensor *copy = tn_to(t, .copy = true);
  tap_ok(copy && copy != t && tn_data_ptr(copy) != tn_data_ptr(t) &&
             values_same(copy, t), "T4 a copy is forced by asking");
  tn_tensor *turned = tn_transpose(t, 0, 1);
  tap_ok(tn_contiguous(t) == t && tn_contiguous(turned) != turned &&
             tn_is_contiguous(tn_contiguous(turned)), "T4 contiguous");
  tap_ok(!tn_to(NULL, .dtype = TN_F64) && !tn_clone(NULL), "T4 NULL is NULL");
  tn_clear_error();
  tap_ok(!tn_to(t, .dtype = TN_F16) && tn_last_status() == TN_UNSUPPORTED,
         "T4 %s", tn_error_message());
}

static void test_between(tn_device other, const char *what)
{
  tn_tensor *t = tn_reshape(tn_arange(0, 12, 1, .device = device),
                            TN_SHAPE(3, 4));
  tn_tensor *turned = tn_transpose(t, 0, 1);
  tn_tensor *y = tn_to(turned, .device = other, .dtype = TN_F32);
  tap_ok(y && tn_device_equal(tn_device_of_tensor(y), other) &&
             values_are(y, VALUES(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)),
         "S2 a transposed i64 tensor goes to %s as f32", what);
  tap_ok(values_are(tn_to(y, .device = device, .dtype = TN_I32),
                    VALUES(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)),
         "S2 and back as i32");
  tn_tensor *to = tn_zeros(TN_SHAPE(2, 4, 3), .device = device,
                           .dtype = widest);
  tn_copy_(tn_select(to, 0, 1), y);
  tap_ok(values_same(tn_select(to, 0, 1),
                     tn_to(y, .device = device, .dtype = widest)) &&
             tn_item(tn_select(tn_flatten(to, 0, 2), 0, 11)) == 0,
         "S2 copy_ from %s into a part", what);
  tn_tensor *row = tn_ones(TN_SHAPE(3), .device = other);
  tap_ok(values_are(tn_select(tn_copy_(to, row), 0, 0),
                    VALUES(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)),
         "S2 copy_ broadcasts on the way");
}

static void test_devices(void)
{
  tn_with_scope { test_between(tn_device_of("cpu:0"), "cpu"); }
  tn_device other = test_second_device();
  if (tn_device_equal(other, (tn_device){ 0, 0 })) {
    tap_skip("S2 there is one device");
    return;
  }
  tn_with_scope { test_between(other, "another device"); }
}

static void test_overlap(void)
{
  bool good = true;
  for (int turn = 0; turn < 5; turn++) tn_with_scope {
    tn_tensor *x = tn_arange(0, 10, 1, .device = device);
    tn_copy_(tn_slice(x, 0, 1, TN_END, 1), tn_slice(x, 0, 0, 9, 1));
    good &= values_are(x, VALUES(0, 0, 1, 2, 3, 4, 5, 6, 7, 8));
  }
  tap_ok(good, "T7 R23 a slice shifted onto itself");
  tn_tensor *m = tn_reshape(tn_arange(0, 9, 1, .device = device),
                            TN_SHAPE(3, 3));
  tn_copy_(m, tn_transpose(m, 0, 1));
  tap_ok(values_are(m, VALUES(0, 3, 6, 1, 4, 7, 2, 5, 8)),
         "T7 a matrix onto its transpose");
  tn_tensor *wide = tn_expand(tn_zeros(TN_SHAPE(1), .device = device),
                              TN_SHAPE(3));
  tn_clear_error();
  tap_ok(!tn_copy_(wide, tn_ones(TN_SHAPE(3), .device = device)) &&
             tn_last_status() == TN_OVERLAP && !tn_fill_(wide, 1) &&
             !tn_zero_(wide), "T7 R24 not into an expanded tensor: %s",
         tn_error_message());
  tap_ok(!tn_copy_(m, tn_ones(TN_SHAPE(2, 3), .device = device)) &&
             tn_last_status() == TN_SHAPE_MISMATCH, "T6 %s",
         tn_error_message());
  tap_ok(!tn_copy_(tn_select(m, 0, 0), m) &&
             tn_last_status() == TN_SHAPE_MISMATCH,
         "T6 what is copied does not make it larger: %s",
         tn_error_message());
}

static void test_fills(void)
{
  tn_tensor *t = tn_full(TN_SHAPE(2, 3), 2.5, .device = device);
  tap_ok(values_are(t, VALUES(2.5, 2.5, 2.5, 2.5, 2.5, 2.5)), "T5 full");
  tn_fill_(tn_select(t, 1, 1), -1);
  tap_ok(values_are(t, VALUES(2.5, -1, 2.5, 2.5, -1, 2.5)),
         "T5 fill_ of a column");
  tap_ok(values_are(tn_zero_(t), VALUES(0, 0, 0, 0, 0, 0)), "T5 zero_");
  bool good = true;
  for (int i = 0; i < 6; i++) {
    tn_tensor *one = tn_ones(TN_SHAPE(2), .device = device,
                             .dtype = dtypes[i]);
    good &= values_are(one, VALUES(1, 1)) &&
            values_are(tn_zeros_like(one), VALUES(0, 0)) &&
            tn_dtype_of(tn_zeros_like(one)) == dtypes[i] &&
            values_are(tn_new_full(one, TN_SHAPE(1), 1), VALUES(1));
  }
  tap_ok(good, "T5 ones, zeros_like and new_full of every dtype");
  tap_ok(values_are(tn_eye(3, .device = device),
                    VALUES(1, 0, 0, 0, 1, 0, 0, 0, 1)), "T5 eye");
  tap_ok(tn_numel(tn_eye(0, .device = device)) == 0, "T6 eye of 0");
}

static void test_arange(void)
{
  tn_tensor *whole = tn_arange(2, 11, 3, .device = device);
  tap_ok(tn_dtype_of(whole) == TN_I64 && values_are(whole, VALUES(2, 5, 8)),
         "T5 arange of whole numbers is i64");
  tn_tensor *part = tn_arange(0.5, 2.0, 0.5, .device = device);
  tap_ok(tn_dtype_of(part) == TN_F32 &&
             values_are(part, VALUES(0.5, 1, 1.5)), "T5 of others f32");
  tap_ok(values_are(tn_arange(5, 0, -2, .device = device, .dtype = TN_I32),
                    VALUES(5, 3, 1)), "T5 downwards");
  tap_ok(tn_numel(tn_arange(3, 3, 1, .device = device)) == 0, "T6 none");
  tn_clear_error();
  tap_ok(!tn_arange(0, 3, -1, .device = device) &&
             tn_last_status() == TN_INVALID_ARGUMENT, "T5 %s",
         tn_error_message());
  tap_ok(!tn_arange(0, 3, 0, .device = device) &&
             tn_last_status() == TN_INVALID_ARGUMENT, "T5 %s",
         tn_error_message());
}

static void in_scope(void (*test)(void))
{
  tn_with_scope { test(); }
}

int main(void)
{
  device = test_device();
  widest = values_widest(device);
  size_t before = tn_memory_allocated(device);
  test_casts();
  in_scope(test_saturation);
  in_scope(test_same);
  test_devices();
  in_scope(test_overlap);
  in_scope(test_fills);
  in_scope(test_arange);
  tap_is_int((long long)(tn_memory_allocated(device) - before), 0,
             "M2 no memory of the device is left");
  return tap_done();
}
