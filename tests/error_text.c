/* Error texts of many threads at once: each thread has its own, also beyond
 * those for which there is room from the beginning. */
#include "config.h"

#include "tests/tap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tenon/device.h"

enum { THREADS = 100, ROUNDS = 2 };

static pthread_barrier_t barrier;

/* All fail, and then each reads its own text. */
static void *fail(void *argument)
{
  char text[32], wanted[64];
  snprintf(text, sizeof text, "bad%d", *(const int *)argument);
  snprintf(wanted, sizeof wanted, "device \"%s\": ", text);
  bool is_fresh = tn_last_status() == TN_OK && !*tn_error_message();
  tn_device_of(text);
  pthread_barrier_wait(&barrier);
  bool is_own = strncmp(tn_error_message(), wanted, strlen(wanted)) == 0;
  tn_clear_error();
  bool is_clear = tn_last_status() == TN_OK && !*tn_error_message();
  return (void *)(intptr_t)(is_fresh && is_own && is_clear);
}

static int run(void)
{
  pthread_t threads[THREADS];
  int numbers[THREADS], right = 0;
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, fail, &numbers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    right += (int)(intptr_t)result;
  }
  return right;
}

int main(void)
{
  pthread_barrier_init(&barrier, NULL, THREADS);
  tn_device_of("main0");
  for (int i = 0; i < ROUNDS; i++)
    tap_is_int(run(), THREADS, "%d threads have their own errors", THREADS);
  tap_has(tn_error_message(), "device \"main0\": ", "and this one its own");
  return tap_done();
}
