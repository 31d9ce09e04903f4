/* Blocks with a stream of their own: nested, on two devices, and every way out
 * of them, on any device (rules D6, A027, A051 to A055). */
#include "config.h"

#include "tests/test_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device, second; /* second: {0, 0} without one */
static char name[32];            /* of the backend */

static bool has_second(void) { return second.backend != 0; }

static int current_ordinal(void) { return tn_current_device(name).index; }

static bool is_current(const tn_stream *stream)
{
  return tn_current_stream(tn_stream_device(stream)) == stream;
}

static void test_second(tn_stream *side)
{
  if (!has_second()) {
    tap_skip("A051 A055 there is one device");
    return;
  }
  tn_stream *other = tn_stream_new(second, 0);
  tn_set_device(device);
  tn_set_stream(other);
  tap_is_int(current_ordinal(), device.index,
             "A055 a stream of another device does not change the current one");
  tap_ok(is_current(other) && !is_current(side), "A055 but that device's");
  tn_set_stream(tn_default_stream(second));
  tn_with_stream(other) {
    tap_is_int(current_ordinal(), second.index,
               "A051 a stream guard sets the device");
    tap_ok(is_current(other), "A051 and its stream");
    tn_with_stream(side) {
      tap_is_int(current_ordinal(), device.index, "A053 guards nest");
      tap_ok(is_current(other) && is_current(side),
             "A051 and leave other devices' streams alone");
    }
    tap_is_int(current_ordinal(), second.index, "A053 and restore in turn");
  }
  tap_is_int(current_ordinal(), device.index, "A053 the device as it was");
  tap_ok(!is_current(other), "A053 and the stream");
  tn_stream_release(other);
}

static void test_reentrance(tn_stream *a)
{
  tn_stream *b = tn_stream_new(device, 0);
  tn_stream *base = tn_current_stream(device);
  tn_with_stream(a) {
    tn_with_stream(b) {
      tn_with_stream(a) tap_ok(is_current(a), "A054 a, b, a");
      tap_ok(is_current(b), "A054 back to b");
      tn_set_stream(base);
    }
    tap_ok(is_current(a), "D6 what the body set is undone");
  }
  tap_ok(is_current(base), "A054 and all the way back");
  tn_stream_release(b);
}

static int leave_by_return(tn_stream *side)
{
  tn_with_stream(side) return is_current(side);
  return -1;
}

static void test_ways_out(tn_stream *side)
{
  tap_is_int(leave_by_return(side), 1, "D6 return leaves");
  tap_ok(!is_current(side), "A027 and restores");
  tn_with_stream(side) goto out;
out:
  tap_ok(!is_current(side), "A027 goto restores");
  int turns = 0;
  for (int i = 0; i < 2; i++) {
    tn_with_stream(side) break;
    turns++;
  }
  tap_is_int(turns, 2, "D6 break leaves the block, not the loop");
  tap_ok(!is_current(side), "A027 and restores");
  bool ran = false;
  tn_clear_error();
  tn_with_stream(NULL) ran = true;
  tap_ok(!ran && tn_last_status() == TN_INVALID_ARGUMENT,
         "D6 the body is skipped without a stream, with an error");
}

int main(void)
{
  device = test_device();
  second = test_second_device();
  char text[TN_DEVICE_TEXT_SIZE];
  tn_device_format(device, text, sizeof text);
  snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
  tn_stream *side = tn_stream_new(device, 0);
  test_second(side);
  test_reentrance(side);
  test_ways_out(side);
  tn_stream_release(side);
  return tap_done();
}
