#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

const tn_device test_host;

tn_device test_device(void)
{
  const char *text = getenv("TN_TEST_DEVICE");
  tn_device_info info;
  if (!text || !*text) text = "cpu:0";
  setenv("TENON_CPU_DEVICES", "2", 0);
  tn_device device = tn_device_of(text);
  tn_status status = tn_device_get_info(device, &info);
  bool is_usable = status == TN_OK && !info.unavailable[0];
  if (is_usable && device.index == -1) device.index = 0;
  if (is_usable) return device;
  const char *why = status == TN_OK ? info.unavailable : tn_error_message();
  if (strncmp(text, "cpu", 3) != 0) tap_skip("%s: %s", text, why);
  else tap_ok(false, "%s can be used: %s", text, why);
  exit(tap_done());
}

tn_device test_second_device(void)
{
  tn_device device = test_device();
  tn_device_info info;
  device.index = device.index == 0 ? 1 : 0;
  if (tn_device_get_info(device, &info) != TN_OK || info.unavailable[0])
    return test_host;
  return device;
}

/* A gate is shut in two steps: a function that tells where it runs, then, if
 * that is elsewhere, one that waits. */
static void tell(void *argument) { *(pthread_t *)argument = pthread_self(); }

static void wait_open(void *argument)
{
  while (sem_wait(argument) != 0) {}
}

bool test_gate_shut(test_gate *gate, tn_stream *stream)
{
  /* For good, as a thread may still be at a semaphore that was opened. */
  static sem_t semaphores[64];
  static int count;
  pthread_t where = pthread_self();
  *gate = (test_gate){ 0 };
  if (tn_stream_call(stream, tell, &where) != TN_OK) return false;
  if (tn_stream_synchronize(stream) != TN_OK) return false;
  if (pthread_equal(where, pthread_self())) return false;
  if (count == 64 || sem_init(&semaphores[count], 0, 0) != 0) abort();
  gate->semaphore = &semaphores[count++];
  return tn_stream_call(stream, wait_open, gate->semaphore) == TN_OK;
}

void test_gate_open(test_gate *gate)
{
  if (gate->semaphore) sem_post(gate->semaphore);
  gate->semaphore = NULL;
}
