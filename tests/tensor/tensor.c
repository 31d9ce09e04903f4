/* Tensor objects: where factories put them, shapes, scopes, reading (rules T1,
 * T5, T6, R20). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static bool is_on(const tn_tensor *t, tn_device wanted)
{
  return t && tn_device_equal(tn_device_of_tensor(t), wanted);
}

static void test_default_device(void)
{
  tn_device before = tn_default_device();
  tn_with_scope {
    tap_ok(is_on(tn_empty(TN_SHAPE(2)), tn_device_of("cpu:0")),
           "T1 a factory without a device uses the default one");
    tn_set_default_device(device);
    tap_ok(is_on(tn_empty(TN_SHAPE(2)), device),
           "T1 and follows it when it changes");
    tn_set_default_device(before);
  }
}

static void test_current_device(void)
{
  tn_device second = test_second_device();
  if (tn_device_equal(second, (tn_device){ 0, 0 })) {
    tap_skip("T1 there is one device");
    return;
  }
  tn_device any = { device.backend, -1 };
  tn_with_scope {
    tn_with_device(second) {
      tap_ok(is_on(tn_empty(TN_SHAPE(2), .device = any), second),
             "T1 without an ordinal it is the current device");
    }
    tap_ok(is_on(tn_empty(TN_SHAPE(2), .device = any), device),
           "T1 which is the one before after the block");
  }
}

static void test_invalid_device(void)
{
  tn_tensor *t = tn_empty(TN_SHAPE(2), .device = { -1, -1 });
  tap_ok(!t, "T1 the invalid device makes no tensor");
  tn_device unknown = tn_device_of("nosuch");
  tn_empty(TN_SHAPE(2), .device = unknown);
  tn_empty(TN_SHAPE(2), .device = unknown);
  tap_has(tn_error_message(), "unknown backend \"nosuch\"",
          "T1 every use of it tells why it is invalid");
  tn_device none = { device.backend, 400 };
  tn_clear_error();
  t = tn_empty(TN_SHAPE(2), .device = none);
  tap_ok(!t && tn_last_status() == TN_NO_SUCH_DEVICE,
         "T1 nor does a device that is not there: %s", tn_error_message());
}

static void test_shapes(void)
{
  tn_with_scope {
    tn_tensor *t = tn_empty(TN_SHAPE(2, 3, 4), .device = device,
                            .dtype = TN_I64);
    tap_is_int(tn_ndim(t), 3, "T6 ndim");
    tap_is_int(tn_numel(t), 24, "T6 numel");
    tap_ok(tn_size(t, 1) == 3 && tn_size(t, -1) == 4, "T6 sizes");
    tap_ok(tn_stride(t, 0) == 12 && tn_stride(t, -1) == 1, "T6 strides");
    tap_ok(tn_dtype_of(t) == TN_I64 && tn_is_contiguous(t), "T5 dtype");
    tn_clear_error();
    tap_ok(tn_size(t, 3) == -1 && tn_last_status() == TN_INVALID_ARGUMENT,
           "T6 there is no dimension 3: %s", tn_error_message());
    tn_tensor *scalar = tn_empty(TN_SCALAR, .device = device);
    tap_ok(tn_ndim(scalar) == 0 && tn_numel(scalar) == 1,
           "T6 no dimensions: one element");
    int64_t many[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    tap_ok(!tn_empty(((tn_shape){ many, 9 })) &&
               tn_last_status() == TN_UNSUPPORTED,
           "T6 nine dimensions: %s", tn_error_message());
    tap_ok(!tn_empty(TN_SHAPE(2, -1)), "T6 negative: %s",
           tn_error_message());
  }
}

static void test_overflow(void)
{
  static const int64_t huge = (int64_t)1 << 32;
  tn_with_scope {
    tap_ok(!tn_empty(TN_SHAPE(huge, huge), .device = device) &&
               tn_last_status() == TN_SIZE_OVERFLOW,
           "T6 R20 a product that overflows: %s", tn_error_message());
    tap_ok(!tn_empty(TN_SHAPE((int64_t)1 << 62, 4), .dtype = TN_U8,
                     .device = device) &&
               tn_last_status() == TN_SIZE_OVERFLOW,
           "T6 R20 so does 2^62 x 4");
    tap_ok(!tn_empty(TN_SHAPE((int64_t)1 << 61), .device = device) &&
               tn_last_status() == TN_SIZE_OVERFLOW,
           "T6 R20 and 2^61 floats, in bytes");
    tn_tensor *t = tn_empty(TN_SHAPE(0, (int64_t)1 << 62, 4),
                            .dtype = TN_U8, .device = device);
    tap_ok(t && tn_numel(t) == 0, "T6 R20 with a 0 among them it is empty");
  }
}

static void test_empty(void)
{
  size_t before = tn_memory_allocated(device);
  tn_with_scope {
    tn_tensor *t = tn_empty(TN_SHAPE(3, 0), .device = device);
    tap_ok(t && !tn_data_ptr(t) && tn_memory_allocated(device) == before,
           "T6 an empty tensor allocates nothing");
    tap_is_int(tn_read(t, NULL, 0), TN_OK, "T6 nothing is read of it");
  }
}

static void test_data(void)
{
  float data[6] = { 1, 2, 3, 4, 5, 6 }, back[6] = { 0 };
  tn_with_scope {
    tn_tensor *t = tn_from_data(data, TN_SHAPE(2, 3), .device = device);
    data[0] = 9;
    tap_ok(t && tn_read(t, back, sizeof back) == TN_OK && back[0] == 1 &&
               back[5] == 6, "T2 data there and back, copied");
    tap_is_int(tn_read(t, back, 8), TN_INVALID_ARGUMENT,
               "T2 a wrong size is refused: %s", tn_error_message());
    tap_ok(isnan(tn_item(t)) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 six elements are no item: %s", tn_error_message());
    int64_t large = INT64_C(9007199254740993);
    t = tn_from_data(&large, TN_SCALAR, .device = device, .dtype = TN_I64);
    tap_ok(tn_item_i64(t) == large, "T2 an item of i64 is exact");
    tap_ok(!tn_from_data(NULL, TN_SHAPE(1), .device = device) &&
               tn_last_status() == TN_INVALID_ARGUMENT, "T2 NULL is no data");
  }
}

static void test_like(void)
{
  tn_with_scope {
    tn_tensor *t = tn_empty(TN_SHAPE(2, 3), .device = device,
                            .dtype = TN_U8);
    tn_tensor *a = tn_empty_like(t), *b = tn_new_empty(t, TN_SHAPE(5));
    tap_ok(is_on(a, device) && tn_dtype_of(a) == TN_U8 && tn_size(a, 1) == 3,
           "T5 _like keeps device, dtype and shape");
    tap_ok(is_on(b, device) && tn_dtype_of(b) == TN_U8 && tn_size(b, 0) == 5,
           "T5 new_ keeps device and dtype");
    a = tn_empty_like(t, .device = tn_device_of("cpu:0"), .dtype = TN_F32);
    tap_ok(is_on(a, tn_device_of("cpu:0")) && tn_dtype_of(a) == TN_F32,
           "T5 unless it is said otherwise");
    tap_ok(!tn_empty_like(NULL), "T5 of NULL comes NULL");
  }
}

static tn_tensor *return_from_scope(void)
{
  tn_with_scope {
    tn_tensor *t = tn_empty(TN_SHAPE(1000), .device = device);
    tn_empty(TN_SHAPE(1000), .device = device);
    return tn_keep(t);
  }
  return NULL;
}

static void test_scopes(void)
{
  size_t before = tn_memory_allocated(device);
  tn_tensor *outer = NULL;
  tn_with_scope {
    tn_with_scope {
      for (int i = 0; i < 100; i++) {
        tn_tensor *t = tn_empty(TN_SHAPE(1000), .device = device);
        if (i == 50) outer = tn_keep(t);
      }
    }
    tap_ok(outer && tn_memory_allocated(device) > before &&
               tn_memory_allocated(device) < before + 8192 &&
               tn_size(outer, 0) == 1000,
           "T2 a kept tensor outlives its scope, the others do not");
  }
  tap_ok(tn_memory_allocated(device) == before,
         "T2 and ends with the scope around it");
  outer = return_from_scope();
  tap_ok(outer && tn_size(outer, 0) == 1000,
         "T2 a return out of a scope releases what is not kept");
  tn_release(outer);
  tap_ok(tn_memory_allocated(device) == before, "T2 all of it");
}

static void *use_scope(void *argument)
{
  tn_tensor **kept = argument;
  tn_with_scope {
    *kept = tn_keep(tn_empty(TN_SHAPE(10), .device = device));
  }
  return NULL;
}

static void test_threads(void)
{
  pthread_t thread;
  tn_tensor *kept = NULL;
  tn_with_scope {
    pthread_create(&thread, NULL, use_scope, &kept);
    pthread_join(thread, NULL);
  }
  tap_ok(kept && tn_numel(kept) == 10,
         "T2 a thread's scopes are its own: what it keeps belongs to it");
  tn_release(kept);
}

static void test_pinned(void)
{
  tn_with_scope {
    tn_tensor *t = tn_empty(TN_SHAPE(5), .device = tn_device_of("cpu:0"),
                            .pin_memory = true);
    tap_ok(t && tn_is_pinned(t), "P1 a pinned tensor");
    tap_ok(!tn_is_pinned(tn_empty(TN_SHAPE(5), .device = device)),
           "P1 others are not");
  }
}

static void test_dtypes(void)
{
  tap_is_text(tn_dtype_name(TN_BF16), "bf16", "T5 names of dtypes");
  tap_is_text(tn_dtype_name((tn_dtype)77), "invalid", "T5 of none");
  tn_clear_error();
  tap_ok(!tn_empty(TN_SHAPE(1), .dtype = TN_F16, .device = device) &&
             tn_last_status() == TN_UNSUPPORTED, "T5 later: %s",
         tn_error_message());
  tap_ok(!tn_empty(TN_SHAPE(1), .dtype = (tn_dtype)77, .device = device) &&
             tn_last_status() == TN_INVALID_ARGUMENT, "T5 never: %s",
         tn_error_message());
  tap_ok(tn_promote_types(TN_U8, TN_BOOL) == TN_U8 &&
             tn_promote_types(TN_I64, TN_F32) == TN_F32 &&
             tn_promote_types(TN_F32, TN_F64) == TN_F64 &&
             tn_promote_types(TN_U8, TN_I32) == TN_I32 &&
             tn_promote_types(TN_BOOL, TN_BOOL) == TN_BOOL,
         "N4 promotion of dtypes");
}

int main(void)
{
  device = test_device();
  test_default_device();
  test_current_device();
  test_invalid_device();
  test_shapes();
  test_overflow();
  test_empty();
  test_data();
  test_like();
  test_scopes();
  test_threads();
  test_pinned();
  test_dtypes();
  return tap_done();
}
