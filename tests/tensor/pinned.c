/* Tensors in pinned memory, and copies that nothing waits for (rules P1, P2,
 * S2; rows A162 to A167, A180, A181, R49). */
#include "config.h"

#include "tests/test_device.h"

#include <unistd.h>

#include "tests/tap.h"
#include "tests/tensor/values.h"

/* A call that waits for a shut gate ends the test. */
#define PATIENCE 300

static tn_device device, second, cpu;

static tn_tensor *count_up(int64_t n)
{
  return tn_arange(0, (double)n, 1, .device = cpu);
}

static void test_making(void)
{
  tn_tensor *t = tn_reshape(count_up(6), TN_SHAPE(2, 3));
  tn_tensor *pinned = tn_pin_memory(t);
  tap_ok(pinned && pinned != t && tn_is_pinned(pinned) && !tn_is_pinned(t) &&
             values_same(pinned, t), "P1 A166 a pinned copy of a tensor");
  tap_ok(tn_memory_is_pinned(tn_data_ptr(pinned)),
         "P1 A166 whose memory is pinned");
  tap_ok(tn_pin_memory(pinned) == pinned,
         "P1 A166 which is itself, pinned again");
  tn_tensor *turned = tn_pin_memory(tn_transpose(t, 0, 1));
  tap_ok(tn_is_pinned(turned) &&
             values_are(turned, VALUES(0, 3, 1, 4, 2, 5)),
         "P1 A163 a transposed tensor keeps its values");
  tn_tensor *none = tn_pin_memory(tn_zeros(TN_SHAPE(0, 3), .device = cpu));
  tap_ok(none && tn_numel(none) == 0, "P1 R21 so does an empty one");
}

static void test_views(void)
{
  tn_tensor *whole = tn_pin_memory(count_up(10));
  tn_tensor *part = tn_slice(whole, 0, 3, 7, 2);
  tap_ok(tn_is_pinned(part) && tn_memory_is_pinned(tn_data_ptr(part)) &&
             values_are(part, VALUES(3, 5)), "P1 A166 a slice is pinned");
  tap_ok(tn_is_pinned(tn_as_strided(whole, TN_SHAPE(2, 2), TN_SHAPE(1, 4), 1)),
         "P1 A167 any range of it is");
  tap_ok(!tn_is_pinned(tn_clone(whole)) &&
             !tn_is_pinned(tn_add_scalar(whole, 1)),
         "P1 A166 what is computed of it is not");
  tn_tensor *behind = tn_slice(whole, 0, 1, TN_END, 1);
  tn_tensor *there = tn_empty(TN_SHAPE(9), .device = device);
  tap_ok(tn_copy_(there, behind, .non_blocking = true) == there &&
             values_are(there, VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9)),
         "S2 A165 a view that begins later is copied from");
}

static void test_refused(void)
{
  if (tn_device_equal(device, cpu)) {
    tap_skip("P1 the device is cpu");
    return;
  }
  tn_clear_error();
  tap_ok(!tn_pin_memory(tn_ones(TN_SHAPE(2), .device = device)) &&
             tn_last_status() == TN_INVALID_ARGUMENT,
         "P1 A166 a tensor of the device is not");
  tap_has(tn_error_message(), "cpu memory can be pinned", "P1 A166 it says");
  tap_ok(!tn_zeros(TN_SHAPE(2), .device = device, .pin_memory = true) &&
             tn_last_status() == TN_INVALID_ARGUMENT,
         "P1 A166 nor is one made there");
  tn_clear_error();
}

/* Both ways, on a stream that is stuck. */
static void test_destination(tn_stream *stream)
{
  test_gate gate;
  tn_tensor *source = tn_full(TN_SHAPE(1000), 5, .device = device);
  tn_tensor *pinned = tn_pin_memory(count_up(1000));
  const volatile float *seen = tn_data_ptr(pinned);
  tn_synchronize(device);
  tn_with_stream(stream) {
    bool is_shut = test_gate_shut(&gate, stream);
    tn_tensor *same = tn_copy_(pinned, source, .non_blocking = true);
    tap_ok(same == pinned, "S2 R49 a copy into a pinned tensor");
    if (is_shut) {
      tap_is_int(tn_stream_query(stream), TN_NOT_READY,
                 "S2 R49 returns while the stream is stuck");
      tap_ok(seen[999] == 999, "S2 R49 and the values are not there yet");
    } else
      tap_skip("R49 the stream cannot be held");
    test_gate_open(&gate);
    tap_is_int(tn_stream_synchronize(stream), TN_OK, "S2 R49 later");
  }
  tap_ok(seen[0] == 5 && seen[999] == 5, "S2 R49 they are");
}

static void test_to(tn_stream *stream)
{
  test_gate gate;
  tn_tensor *source = tn_full(TN_SHAPE(100), 7, .device = device), *y = NULL;
  if (tn_device_equal(device, cpu)) {
    tap_skip("A180 the device is cpu");
    return;
  }
  tap_ok(!tn_is_pinned(tn_to(source, .device = cpu)),
         "S2 A181 to cpu: by default it blocks, and pins nothing");
  tn_synchronize(device);
  tn_with_stream(stream) {
    bool is_shut = test_gate_shut(&gate, stream);
    y = tn_to(source, .device = cpu, .non_blocking = true);
    tap_ok(tn_is_pinned(y), "S2 A180 R49 non_blocking: the result is pinned");
    if (is_shut)
      tap_is_int(tn_stream_query(stream), TN_NOT_READY,
                 "S2 A180 R49 and the stream still busy");
    else
      tap_skip("A180 the stream cannot be held");
    test_gate_open(&gate);
    tn_stream_synchronize(stream);
  }
  tap_ok(tn_item(tn_sum(y)) == 700, "S2 A180 the values come");
}

/* Two copies from pinned memory to the device that is not current. The host's
 * default stream could only wait for them by blocking. */
static void test_other_device(void)
{
  test_gate gate;
  tn_tensor *to[2];
  tn_stream *stream = tn_stream_new(second, 0);
  tn_stream *own = tn_stream_new(cpu, 0);
  float *taken[2];
  for (int i = 0; i < 2; i++)
    to[i] = tn_zeros(TN_SHAPE(500), .device = second);
  tn_synchronize(second);
  tn_set_stream(stream);
  tn_set_stream(own);
  bool is_shut = test_gate_shut(&gate, stream);
  for (int i = 0; i < 2; i++) tn_with_scope {
    tn_tensor *from = tn_empty(TN_SHAPE(500), .device = cpu,
                               .pin_memory = true);
    taken[i] = tn_data_ptr(from);
    for (int k = 0; k < 500; k++) taken[i][k] = (float)(i + 1);
    tn_copy_(to[i], from, .non_blocking = true);
  }
  if (is_shut)
    tap_ok(taken[0] != taken[1], "P2 A162 pinned memory that the stuck stream "
           "of another device will read is not handed out");
  else
    tap_skip("P2 A162 the stream cannot be held");
  test_gate_open(&gate);
  tap_ok(tn_item(tn_sum(to[0])) == 500 && tn_item(tn_sum(to[1])) == 1000,
         "P2 A162 both values arrive");
  tn_set_stream(tn_default_stream(second));
  tn_set_stream(tn_default_stream(cpu));
  tn_stream_release(stream);
  tn_stream_release(own);
}

int main(void)
{
  device = test_device();
  second = test_second_device();
  cpu = tn_device_of("cpu:0");
  tn_stream *stream = tn_stream_new(device, 0);
  alarm(PATIENCE);
  tn_with_scope {
    test_making();
    test_views();
    test_refused();
    test_destination(stream);
    test_to(stream);
    if (tn_device_equal(second, test_host))
      tap_skip("A162 there is one device");
    else
      test_other_device();
  }
  tn_stream_release(stream);
  return tap_done();
}
