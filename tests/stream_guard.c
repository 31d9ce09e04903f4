/* Current streams and the guards around them, on any device (rules D6, S7,
 * A051 to A063). */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
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

static void test_pool(void)
{
  enum { POOL = 32 };
  tn_stream *streams[POOL + 1];
  bool distinct = true;
  for (int i = 0; i <= POOL; i++) {
    streams[i] = tn_stream_new(device, 0);
    for (int k = 0; k < i && i < POOL; k++)
      distinct = distinct && streams[k] != streams[i];
  }
  tap_ok(distinct, "S7 32 streams are 32");
  tap_ok(streams[0] && streams[POOL] == streams[0],
         "A058 S7 the next is the first again");
  tap_ok(streams[0] != tn_default_stream(device),
         "A050 none of them is the default stream");
  tn_stream *urgent = tn_stream_new(device, -10);
  tap_ok(urgent && urgent != streams[0], "A059 priorities are clamped");
  tn_stream *least = tn_stream_new(device, 10);
  tap_ok(least != NULL, "A059 on both sides");
  for (int i = 0; i <= POOL; i++) tn_stream_release(streams[i]);
  tn_stream_release(urgent);
  tn_stream_release(least);
}

static void test_default(void)
{
  tn_stream *stream = tn_default_stream(device);
  tap_ok(stream && is_current(stream), "D6 the default stream is current");
  tn_device of = tn_stream_device(stream);
  tap_ok(tn_device_equal(of, device), "A061 it is of its device");
  if (has_second())
    tap_ok(tn_default_stream(second) != stream,
           "A061 each device has its own");
  else tap_skip("A061 there is one device");
}

static void test_set(tn_stream *side)
{
  tap_is_int(tn_set_stream(side), TN_OK, "D6 a stream is made current");
  tap_ok(is_current(side), "D6 and then it is");
  tn_with_device(device)
    tap_ok(is_current(side), "A056 a device guard leaves it alone");
  tn_set_stream(tn_default_stream(device));
  tap_ok(!is_current(side), "D6 and the default one again");
  tap_is_int(tn_set_stream(NULL), TN_INVALID_ARGUMENT, "D6 NULL is refused");
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

static void *look(void *argument)
{
  bool *is_default = argument;
  *is_default = is_current(tn_default_stream(device));
  tn_set_stream(tn_stream_new(device, 0));
  return NULL;
}

static void test_threads(tn_stream *side)
{
  bool is_default = false;
  pthread_t thread;
  tn_set_stream(side);
  if (pthread_create(&thread, NULL, look, &is_default) == 0)
    pthread_join(thread, NULL);
  tap_ok(is_default, "A057 D6 a thread begins at the default stream");
  tap_ok(is_current(side), "A057 and changes its own only");
  tn_set_stream(tn_default_stream(device));
}

static void test_absent_device(void)
{
  tn_device absent = { device.backend, 511 };
  tap_ok(tn_current_stream(absent) == NULL, "A063 no stream of %s:511", name);
  tap_is_int(tn_last_status(), TN_NO_SUCH_DEVICE, "A063 says why");
}

int main(void)
{
  device = test_device();
  second = test_second_device();
  char text[TN_DEVICE_TEXT_SIZE];
  tn_device_format(device, text, sizeof text);
  snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
  test_default();
  test_pool();
  tn_stream *side = tn_stream_new(device, 0);
  test_set(side);
  test_second(side);
  test_reentrance(side);
  test_ways_out(side);
  test_threads(side);
  test_absent_device();
  tn_stream_release(side);
  return tap_done();
}
