/* Streams that are kept busy, so that what does not wait for them is seen. */
#include "config.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "conformance/check.h"

/* A gate is shut in two steps: a function that tells where it runs, then, if
 * that is elsewhere, one that waits. */
typedef struct teller {
  pthread_t where;
  bool is_told;
} teller;

static void tell(void *argument)
{
  teller *t = argument;
  t->where = pthread_self();
  t->is_told = true;
}

static void wait_open(void *argument)
{
  while (sem_wait(argument) != 0) {}
}

/* Whether host functions wait in the queue, so that the gate is shut. */
static bool shut(conform_gate *gate, tn_stream *stream)
{
  teller t = { .where = pthread_self() };
  conform_ok(tn_stream_call(stream, tell, &t), "a host function");
  conform_ok(tn_stream_synchronize(stream), "waiting for a host function");
  conform_check(t.is_told, "a host function was not called before "
                "synchronising returned");
  if (pthread_equal(t.where, pthread_self())) return false;
  sem_t *semaphore = (void *)conform_host_new(sizeof *semaphore);
  if (sem_init(semaphore, 0, 0) != 0) abort();
  gate->semaphore = semaphore;
  conform_ok(tn_stream_call(stream, wait_open, semaphore),
             "a host function that waits");
  return true;
}

conform_gate conform_gate_shut(tn_stream *stream)
{
  conform_gate gate = { 0 };
  if (conform_kernels_wait()) conform_absent("launch");
  if (!shut(&gate, stream)) conform_absent("host functions that run in the "
                                           "queue");
  return gate;
}

void conform_gate_open(conform_gate *gate)
{
  if (gate->semaphore) sem_post(gate->semaphore);
  gate->semaphore = NULL;
}

/* ---- busy without a gate ---- */

enum { BUSY_COUNT = 1 << 16, BUSY_MOST = 200 };
static const double busy_ms = 15;

/* How many launches take that long; at least one. */
static int calibrate(void)
{
  float *memory =
      (float *)(void *)conform_memory_new(conform_device, BUSY_COUNT * 4);
  double each = 0;
  for (int i = 0; i < 2; i++) {
    double start = conform_now();
    conform_ok(conform_set(memory, 0, BUSY_COUNT), "a launch");
    conform_ok(tn_synchronize(conform_device), "synchronising");
    each = conform_now() - start;
  }
  return each * BUSY_MOST < busy_ms ? BUSY_MOST : (int)(busy_ms / each) + 1;
}

static void make_busy(tn_stream *stream)
{
  static int launches;
  if (!launches) launches = calibrate();
  tn_with_stream(stream) {
    float *memory =
        (float *)(void *)conform_memory_new(conform_device, BUSY_COUNT * 4);
    for (int i = 0; i < launches; i++)
      conform_ok(conform_set(memory, (float)i, BUSY_COUNT), "a launch");
  }
}

conform_delay conform_delay_begin(tn_stream *stream)
{
  conform_delay delay = { { NULL } };
  if (!conform_kernels_wait() && !shut(&delay.gate, stream)) make_busy(stream);
  return delay;
}

void conform_delay_end(conform_delay *delay)
{
  conform_gate_open(&delay->gate);
}
