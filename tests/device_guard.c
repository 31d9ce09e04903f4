/* The current device: rules D3, D6, A021 to A043. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <pthread.h>
#include <stdlib.h>

#include "tenon/device.h"

static tn_device fake(int index)
{
  return (tn_device){ tn_device_of("fake").backend, (int16_t)index };
}

static int current(void) { return tn_current_device("fake").index; }

static void leave_early(void)
{
  tn_with_device(fake(2)) {
    tn_set_device(fake(3));
    return;
  }
}

static void leave_by_goto(void)
{
  tn_with_device(fake(2)) {
    tn_with_device(fake(1)) goto out;
  }
out:
  return;
}

static void check_set(void)
{
  tap_is_int(current(), 0, "D6 a thread begins at ordinal 0");
  tap_is_int(tn_set_device(fake(1)), TN_OK, "a device can be set");
  tap_is_int(current(), 1, "A043 and stays");
  tap_is_int(tn_set_device(fake(-1)), TN_OK, "no ordinal is the current one");
  tap_is_int(current(), 1, "and changes nothing");
  tap_is_int(tn_set_device(fake(4)), TN_NO_SUCH_DEVICE,
             "A028 one past the last is refused");
  tap_has(tn_error_message(),
          "device \"fake:4\": no such device: fake has 4 devices (fake:0 to "
          "fake:3)", "A042 naming it and those there are");
  tap_is_int(current(), 1, "A028 and the current device stays");
  tap_is_int(tn_set_device((tn_device){ -1, -1 }), TN_INVALID_ARGUMENT,
             "the invalid device is refused");
  tap_is_int(tn_set_device((tn_device){ 0, 0 }), TN_INVALID_ARGUMENT,
             "so is one not given");
  tap_is_int(tn_set_device((tn_device){ 64, 0 }), TN_INVALID_ARGUMENT,
             "and one of no backend");
  tap_is_int(tn_set_device((tn_device){ 1, -2 }), TN_INVALID_ARGUMENT,
             "and a bad index");
  tap_is_int(tn_current_device("nobody").backend, -1,
             "an unknown backend has no current device");
  tap_is_int(tn_last_status(), TN_UNKNOWN_BACKEND, "with the reason");
  tap_is_int(tn_current_device(NULL).backend, -1, "neither has NULL");
  tn_set_device(fake(0));
}

static void check_push(void)
{
  tn_device_guard guard = tn_device_push(fake(1));
  tap_ok(guard.active && current() == 1, "A021 a push switches");
  tn_set_device(fake(3));
  tn_device_pop(&guard);
  tap_is_int(current(), 0, "A021 a pop restores whatever the body set");
  tn_device_pop(&guard);
  tap_is_int(guard.active, 0, "a second pop does nothing");
  guard = tn_device_push(fake(-1));
  tap_ok(guard.active && current() == 0, "A021 no ordinal: no switch");
  tn_device_pop(&guard);
  guard = tn_device_push((tn_device){ 0, 0 });
  tap_ok(guard.active && current() == 0, "A026 not given: nothing happens");
  tn_device_pop(&guard);
  tap_is_int(current(), 0, "A026 and nothing is restored");
  guard = tn_device_push(fake(9));
  tap_ok(!guard.active && tn_last_status() == TN_NO_SUCH_DEVICE,
         "a push of no device fails");
  tn_device_pop(&guard);
  tn_device_pop(NULL);
  tap_is_int(current(), 0, "popping it, or NULL, does nothing");
}

static void check_blocks(void)
{
  int seen[4] = { -1, -1, -1, -1 }, bodies = 0;
  tn_with_device(fake(1)) {
    seen[0] = current();
    tn_with_device("fake:0") {
      seen[1] = current();
      tn_with_device(fake(1)) seen[2] = current();
      seen[3] = current();
    }
    tap_is_int(current(), 1, "A025 blocks nest");
  }
  tap_ok(seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0 &&
             current() == 0, "A025 1, 0, 1, 0 and back to 0");
  leave_early();
  tap_is_int(current(), 0, "A027 return restores, after set_device too");
  leave_by_goto();
  tap_is_int(current(), 0, "A027 goto restores, two deep");
  for (int i = 0; i < 2; i++) {
    tn_with_device(fake(2)) break;
    bodies++;
  }
  tap_ok(bodies == 2 && current() == 0, "break leaves the block only");
  tn_with_device(fake(9)) bodies++;
  tn_with_device("fake::") bodies++;
  tap_is_int(bodies, 2, "the body of a refused device is skipped");
  tap_is_int(tn_last_status(), TN_INVALID_DEVICE_STRING, "with the error");
}

static void check_two_backends(void)
{
  tn_device other = tn_device_of("other:1");
  tn_with_device(other) {
    tap_ok(current() == 0 && tn_current_device("other").index == 1,
           "A051 a backend's device leaves those of others alone");
    tn_with_device(fake(2)) {
      tap_ok(current() == 2 && tn_current_device("other").index == 1,
             "both are current, each in its backend");
    }
  }
  tap_is_int(tn_current_device("other").index, 0, "and restored");
}

enum { THREADS = 4, SWITCHES = 50 };

/* Reads back its own device after each of its switches. */
static void *switch_often(void *argument)
{
  long wrong = current() != 0;
  int own = *(const int *)argument;
  for (int i = 0; i < SWITCHES; i++) {
    int wanted = (own + i) % 4;
    if (tn_set_device(fake(wanted)) != TN_OK) wrong++;
    wrong += current() != wanted;
  }
  return (void *)(intptr_t)wrong;
}

static void check_threads(void)
{
  pthread_t threads[THREADS];
  int numbers[THREADS];
  intptr_t wrong = 0;
  tn_set_device(fake(3));
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, switch_often, &numbers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    wrong += (intptr_t)result;
  }
  tap_is_int(wrong, 0, "A030 D6 the current device is each thread's own");
  tap_is_int(current(), 3, "and this thread's is untouched");
}

int main(void)
{
  const char *folder = plugin_folder_make();
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  plugin_folder_add(folder, PLUGIN_FAKE, "other");
  plugin_path_set(folder, "");
  setenv("TENON_FAKE_DEVICES", "4", 1);
  check_set();
  check_push();
  check_blocks();
  check_two_backends();
  check_threads();
  return tap_done();
}
