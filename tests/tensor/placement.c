/* Where operations run, what may be mixed, and the same random numbers
 * everywhere (rules T2, T3, T8; rows A032, A035, A185, A238). */
#include "config.h"

#include "tests/test_device.h"

#include <string.h>

#include "tests/tap.h"
#include "tests/tensor/values.h"

static tn_device device, second, cpu;

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
  }
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
  tn_with_scope {
    test_operands();
    test_scalars();
    test_strangers();
    test_seeds();
    if (tn_device_equal(second, (tn_device){ 0, 0 }))
      tap_skip("T3 there is one device");
    else {
      test_current();
      test_peers();
    }
  }
  return tap_done();
}
