/* Threads with streams of their own multiply by one weight (A083). */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/tap.h"

enum { SIZE = 32, THREADS = 2, ROUNDS = 10 };

static tn_device device;
static tn_tensor *weight;
static pthread_barrier_t barrier;

/* The sum of a product of ones is exact: SIZE^3. */
static bool product_is_right(void)
{
  bool is_right = false;
  tn_with_scope {
    tn_tensor *ones = tn_ones(TN_SHAPE(SIZE, SIZE), .device = device);
    tn_tensor *product = tn_matmul(ones, weight);
    for (int i = 0; i < 3 && product; i++)
      product = tn_mul_scalar(tn_matmul(product, weight), 1.0 / SIZE);
    if (!product) tap_note("%s", tn_error_message());
    is_right = product &&
               tn_item(tn_sum(product)) == (double)SIZE * SIZE * SIZE;
  }
  return is_right;
}

static void *multiply(void *argument)
{
  intptr_t failures = 0;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_stream_wait_stream(stream, argument);
  pthread_barrier_wait(&barrier);
  tn_with_stream(stream)
    for (int i = 0; i < ROUNDS; i++) failures += !product_is_right();
  tn_stream_release(stream);
  return (void *)failures;
}

int main(void)
{
  pthread_t threads[THREADS];
  device = test_device();
  weight = tn_ones(TN_SHAPE(SIZE, SIZE), .device = device);
  tap_ok(weight != NULL, "A083 a weight");
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, multiply, tn_default_stream(device));
  for (int i = 0; i < THREADS; i++) {
    void *failures;
    pthread_join(threads[i], &failures);
    tap_is_int((long)(intptr_t)failures, 0,
               "A083 thread %d has the right sums, %d times", i, ROUNDS);
  }
  tn_release(weight);
  return tap_done();
}
