/* Where operations run, what may be mixed, and the same random numbers
 * everywhere (rules T2, T3, T5, T8; rows A029, A032 to A037, A184 to A186,
 * A238). */
#include "config.h"

#include "tests/test_device.h"

#include <string.h>

#include "tests/tap.h"
#include "tests/tensor/values.h"

static tn_device device, second, cpu;
static tn_device whole_backend; /* the device's, without an ordinal */
static char name_of_backend[TN_DEVICE_TEXT_SIZE];
static const tn_device none;

static bool is_on(const tn_tensor *t, tn_device wanted)
{
  return t && tn_device_equal(tn_device_of_tensor(t), wanted);
}

static void test_operands(void)
{
  tn_tensor *x = tn_ones(TN_SHAPE(2, 2), .device = device);
  tn_device before = tn_default_device();
  tn_set_default_device(cpu);
  tn_tensor *y = tn_matmul(tn_add(x, x), tn_exp(tn_zeros_like(x)));
  tap_ok(is_on(y, device) && values_are(y, VALUES(4, 4, 4, 4)),
         "T2 an operation runs where its operands are");
  tn_set_default_device(before);
  tap_ok(is_on(tn_clone(x), device) && is_on(tn_to(x, .dtype = TN_I64),
                                             device),
         "T2 A185 clones and casts stay on the device");
  tap_ok(tn_to(x, .device = device) == x,
         "T4 A035 moved to where it is, a tensor is the same one");
}

static void test_ways(void)
{
  tn_tensor *x = tn_reshape(tn_arange(0, 6, 1.0, .device = cpu),
                            TN_SHAPE(2, 3));
  tn_tensor *there = tn_to(x, .device = device);
  tap_ok(values_same(tn_cpu(there), x) &&
             values_same(tn_cpu(tn_clone(there)), x) &&
             values_same(tn_cpu(tn_transpose(tn_clone(tn_transpose(
                             there, 0, 1)), 0, 1)), x),
         "S2 A186 there and back, cloned and turned: the values stay");
}

/* An operation that fails changes neither the current device nor memory. */
static void test_failure(tn_device current)
{
  size_t before = tn_memory_allocated(device);
  tn_with_device(current) tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(2, 3), .device = device);
    tn_clear_error();
    tap_ok(!tn_matmul(x, x) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 A029 shapes that do not fit");
    tap_ok(tn_device_equal(tn_current_device(name_of_backend), current),
           "T2 A029 the current device stays");
    tn_clear_error();
    tap_ok(values_are(tn_add(x, x), VALUES(2, 2, 2, 2, 2, 2)),
           "T2 A029 and operations work");
  }
  tap_is_int((long long)(tn_memory_allocated(device) - before), 0,
             "T2 A029 nothing of it is left");
}

static void test_current(void)
{
  tn_tensor *x = tn_ones(TN_SHAPE(3), .device = device);
  tn_with_device(second) {
    tn_tensor *y = tn_add(x, x);
    tap_ok(is_on(y, device) && values_are(y, VALUES(2, 2, 2)),
           "T2 whatever the current device is");
    y = tn_sum(tn_ones(TN_SHAPE(3), .device = second));
    tap_ok(is_on(y, second) && tn_item(y) == 3, "T2 as on the other one");
    tap_ok(is_on(tn_zeros(TN_SHAPE(2), .device = whole_backend), second),
           "T1 A033 without an ordinal, a factory's device is the current one");
    tap_ok(is_on(tn_zeros(TN_SHAPE(2), .device = device), device),
           "T1 A033 one that is given wins");
    tap_ok(is_on(tn_new_zeros(x, TN_SHAPE(2)), device) &&
               is_on(tn_ones_like(x), device),
           "T5 A034 new_* and *_like stay with their tensor");
    tap_ok(is_on(tn_new_zeros(x, TN_SHAPE(2), .device = second), second) &&
               is_on(tn_ones_like(x, .device = second), second),
           "T5 A034 unless they are given another device");
  }
}

/* Of three operands each on one of two devices: what is alike passes. */
static void test_products(void)
{
  tn_device places[2] = { device, cpu };
  int good = 0;
  if (tn_device_equal(device, cpu)) places[1] = second;
  if (tn_device_equal(places[1], none)) {
    tap_skip("T3 A037 there is one device");
    return;
  }
  for (int mix = 0; mix < 8; mix++) tn_with_scope {
    tn_tensor *of[3], *y;
    for (int i = 0; i < 3; i++)
      of[i] = tn_ones(TN_SHAPE(2, 2), .device = places[mix >> i & 1]);
    tn_clear_error();
    y = tn_addmm(of[0], of[1], of[2], 1, 1);
    bool is_alike = mix == 0 || mix == 7;
    bool is_good = is_alike ? is_on(y, places[mix & 1]) &&
                              values_are(y, VALUES(3, 3, 3, 3))
                            : !y && tn_last_status() == TN_DEVICE_MISMATCH;
    y = tn_mm(of[0], of[1]);
    bool is_pair = (mix & 1) == (mix >> 1 & 1);
    is_good &= is_pair ? values_are(y, VALUES(2, 2, 2, 2))
                       : !y && tn_last_status() == TN_DEVICE_MISMATCH;
    if (!is_good) tap_note("mix %d", mix);
    good += is_good;
  }
  tap_is_int(good, 8, "T3 A037 mm and addmm take operands of one device: of 8 "
             "mixes 2");
}

static void test_scalars(void)
{
  tn_tensor *x = tn_ones(TN_SHAPE(2), .device = device);
  tn_tensor *half = tn_full(TN_SCALAR, 0.5, .device = cpu);
  tn_tensor *y = tn_add(x, half), *z = tn_mul(half, x);
  tap_ok(is_on(y, device) && values_are(y, VALUES(1.5, 1.5)),
         "T3 a cpu tensor without dimensions combines with any device");
  tap_ok(is_on(z, device) && values_are(z, VALUES(0.5, 0.5)),
         "T3 also as the first operand");
  tn_requires_grad_(half, true);
  tn_tensor *loss = tn_sum(tn_mul(x, half)), *grad = NULL;
  tap_ok(tn_grad_of(&loss, 1, &half, 1, &grad) == TN_OK &&
             is_on(grad, cpu) && tn_item(grad) == 2,
         "T3 its gradient comes back to cpu");
}

static void test_strangers(void)
{
  tn_tensor *x = tn_ones(TN_SHAPE(2), .device = device);
  tn_tensor *y = tn_ones(TN_SHAPE(2), .device = cpu);
  char name[TN_DEVICE_TEXT_SIZE];
  tn_device_format(device, name, sizeof name);
  if (tn_device_equal(device, cpu)) {
    tap_skip("T3 the device is cpu");
    return;
  }
  tn_clear_error();
  tap_ok(!tn_add(x, y) && tn_last_status() == TN_DEVICE_MISMATCH,
         "T3 a cpu tensor with dimensions does not");
  tap_has(tn_error_message(), name, "T3 the error names one device");
  tap_has(tn_error_message(), "cpu:0", "T3 and the other: %s",
          tn_error_message());
  tap_ok(!tn_matmul(tn_ones(TN_SHAPE(2, 2), .device = device),
                    tn_ones(TN_SHAPE(2, 2), .device = cpu)) &&
             !tn_where(tn_eq(x, x), x, y), "T3 so for other operations");
  tap_ok(values_are(tn_copy_(y, tn_mul_scalar(x, 4)), VALUES(4, 4)),
         "T3 copy_ takes them");
}

/* Each device's queue has work that the other must wait for. */
static void test_peers(void)
{
  tn_tensor *x = tn_ones(TN_SHAPE(1000), .device = device);
  tn_tensor *y = tn_ones(TN_SHAPE(1000), .device = second);
  tn_clear_error();
  tap_ok(!tn_add(x, y) && tn_last_status() == TN_DEVICE_MISMATCH,
         "T3 two devices: %s", tn_error_message());
  if (!tn_can_access_peer(device, second) ||
      tn_enable_peer_access(device, second) != TN_OK) {
    tap_skip("T3 they are no peers");
    return;
  }
  tap_ok(tn_peer_access_enabled(device, second) &&
             !tn_peer_access_enabled(second, device),
         "T3 access is enabled one way");
  for (int i = 0; i < 5; i++) y = tn_add_scalar(y, 1);
  tn_tensor *sum = tn_add(x, y);
  tn_zero_(y);
  tap_ok(is_on(sum, device) && tn_item(tn_sum(sum)) == 7000,
         "T3 with access an operation runs on the first operand's device");
  tap_ok(tn_item(tn_sum(y)) == 0, "T3 and the other one waits for it");
  tn_clear_error();
  tap_ok(!tn_add(y, x) && tn_last_status() == TN_DEVICE_MISMATCH,
         "T3 not the other way round");
  tn_synchronize(device);
  tn_disable_peer_access(device, second);
}

static void test_seeds(void)
{
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tn_manual_seed(seed);
    tn_tensor *a = tn_rand(TN_SHAPE(33), .device = device);
    tn_tensor *b = tn_randn(TN_SHAPE(7), .device = device);
    tn_tensor *c = tn_dropout(tn_ones_like(a), 0.5, true);
    tn_manual_seed(seed);
    tn_tensor *p = tn_rand(TN_SHAPE(33), .device = cpu);
    tn_tensor *q = tn_randn(TN_SHAPE(7), .device = cpu);
    tn_tensor *r = tn_dropout(tn_ones_like(p), 0.5, true);
    tap_ok(values_same(tn_cpu(a), p) && values_same(tn_cpu(b), q) &&
               values_same(tn_cpu(c), r),
           "T8 A238 seed %d: the same numbers as on cpu", (int)seed);
  }
  tn_generator *own = tn_generator_default(device);
  tap_ok(tn_generator_initial_seed(own) == 3, "T8 A238 the seed reads back");
}

int main(void)
{
  device = test_device();
  second = test_second_device();
  cpu = tn_device_of("cpu:0");
  whole_backend = (tn_device){ device.backend, -1 };
  tn_device_format(whole_backend, name_of_backend, sizeof name_of_backend);
  tn_with_scope {
    test_operands();
    test_ways();
    test_failure(device);
    test_products();
    test_scalars();
    test_strangers();
    test_seeds();
    if (tn_device_equal(second, none))
      tap_skip("T3 there is one device");
    else {
      test_failure(second);
      test_current();
      test_peers();
    }
  }
  return tap_done();
}
