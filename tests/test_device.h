/* The device a test works on: TN_TEST_DEVICE, or else cpu. */
#ifndef TN_TESTS_TEST_DEVICE_H
#define TN_TESTS_TEST_DEVICE_H

#include <stdbool.h>

#include <tenon/tenon.h>

/* With its ordinal. cpu is given two devices. Ends the test with a skip if it
 * cannot be used, unless it is cpu. */
tn_device test_device(void);

/* Another device of its backend; {0, 0} if there is none. */
tn_device test_second_device(void);

/* Host memory: no device. */
extern const tn_device test_host;

/* Keeps a stream busy until it is opened. */
typedef struct test_gate {
  void *semaphore; /* NULL: open */
} test_gate;

/* False, and the stream is not busy, where host functions are called on the
 * spot: the backend has none, or the stream is the default one of cpu. */
bool test_gate_shut(test_gate *gate, tn_stream *stream);
void test_gate_open(test_gate *gate);

#endif
