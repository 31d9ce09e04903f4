/* First use from many threads at once: rule D10, R12, A290; and of one device
 * alone, A291. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/device.h"

enum { THREADS = 16, ROUNDS = 8 };

static pthread_barrier_t barrier;
static char backend[32];

/* From the string to an open device, all at once. */
static void *touch(void *argument)
{
  int number = *(const int *)argument;
  char text[64], other[64];
  snprintf(text, sizeof text, "%s:%d", backend, number % 2);
  snprintf(other, sizeof other, "%s:%d", backend, (number + 1) % 2);
  pthread_barrier_wait(&barrier);
  /* The fake's neighbours reach each other, so true means: both open. */
  bool reached = tn_can_access_peer(tn_device_of(text), tn_device_of(other));
  return (void *)(intptr_t)!reached;
}

static int count_calls(const char *log, const char *call)
{
  char line[128], wanted[128];
  int count = 0;
  FILE *calls = fopen(log, "r");
  snprintf(wanted, sizeof wanted, "%s %s\n", backend, call);
  while (calls && fgets(line, sizeof line, calls))
    count += strcmp(line, wanted) == 0;
  if (calls) fclose(calls);
  return count;
}

static void race(const char *folder, const char *log, int round)
{
  pthread_t threads[THREADS];
  int numbers[THREADS];
  intptr_t failures = 0;
  snprintf(backend, sizeof backend, "racer_%c", 'a' + round);
  plugin_folder_add(folder, PLUGIN_FAKE, backend);
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, touch, &numbers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    failures += (intptr_t)failed;
  }
  tap_is_int(failures, 0, "A290 all of %d threads succeed", THREADS);
  tap_is_int(count_calls(log, "entry"), 1, "D10 R12 one call of the entry");
  tap_is_int(count_calls(log, "open 0"), 1, "D10 device 0 is opened once");
  tap_is_int(count_calls(log, "open 1"), 1, "D10 device 1 too");
}

/* The second device alone. */
static void use_one(const char *folder, const char *log)
{
  snprintf(backend, sizeof backend, "lone");
  plugin_folder_add(folder, PLUGIN_FAKE, backend);
  tn_device device = tn_device_of("lone:1");
  tap_is_int(tn_synchronize(device), TN_OK, "A291 a device is used");
  tap_is_int(count_calls(log, "open 1"), 1, "A291 it is opened");
  tap_is_int(count_calls(log, "open 0"), 0, "A291 and its sibling is not");
}

int main(void)
{
  const char *folder = plugin_folder_make();
  char log[PATH_MAX];
  snprintf(log, sizeof log, "%s/log", folder);
  setenv("TENON_FAKE_LOG", log, 1);
  plugin_path_set(folder, "");
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < ROUNDS; i++) race(folder, log, i);
  use_one(folder, log);
  return tap_done();
}
