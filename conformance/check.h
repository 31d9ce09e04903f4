/* What the suite's tests are written with. A test ends at its first failure,
 * and what it makes is kept until its process ends, which is soon. */
#ifndef TN_CONFORMANCE_CHECK_H
#define TN_CONFORMANCE_CHECK_H

#include <tenon/tenon.h>

#include "conformance/suite.h"

/* Shared by all files of tests. */
extern tn_device conform_device, conform_nowhere; /* nowhere: host memory */
extern char conform_text[TN_DEVICE_TEXT_SIZE];    /* "cpu:0" */
extern char conform_backend[32];                  /* "cpu" */

/* Ends the test as failed, with the text and this thread's last error. */
void conform_check(bool condition, const char *format, ...) TN_PRINTF(2, 3);
void conform_fail(const char *format, ...) TN_PRINTF(1, 2)
    __attribute__((noreturn));

/* The same for a status, which is named. */
void conform_ok(tn_status status, const char *format, ...) TN_PRINTF(2, 3);
void conform_is(tn_status got, tn_status wanted, const char *format, ...)
    TN_PRINTF(3, 4);

/* The last error's text has the part. */
void conform_error_has(const char *part, const char *format, ...)
    TN_PRINTF(2, 3);

/* Ends the test: the device has no such feature. */
void conform_absent(const char *format, ...) TN_PRINTF(1, 2)
    __attribute__((noreturn));

/* Finds the device and opens it; tests that are not raw begin with it done. */
void conform_open(void);
tn_device_info conform_info(void);

/* Another device of its backend; ends the test as absent without one. */
tn_device conform_second(void);

/* Random numbers of the seed and the test. */
uint32_t conform_random(uint32_t bound);

/* All these succeed or end the test. */
unsigned char *conform_memory_new(tn_device device, size_t bytes);
unsigned char *conform_pinned_new(size_t bytes);
unsigned char *conform_host_new(size_t bytes);
tn_stream *conform_stream_new(tn_device device, int priority);
tn_event *conform_event_new(unsigned flags);

/* Bytes that follow from the salt. */
void conform_draw(unsigned char *bytes, size_t size, uint32_t salt);

/* Blocking copies between the host and a device. */
void conform_send(tn_device device, void *to, const void *from, size_t size);
void conform_fetch(tn_device device, void *to, const void *from, size_t size);

/* Ends the test unless both are the same; names the first difference. */
void conform_same(const unsigned char *got, const unsigned char *wanted,
                  size_t size, const char *format, ...) TN_PRINTF(4, 5);

/* Ends the test unless all bytes on the device have the value. */
void conform_all(tn_device device, const void *memory, unsigned char value,
                 size_t size, const char *format, ...) TN_PRINTF(5, 6);

/* Whether the test has kernels that the core runs in the backend's place. Those
 * wait for all streams, so that none can be kept busy meanwhile. */
bool conform_kernels_wait(void);

/* A host function that keeps a stream busy until it is opened. Ends the test
 * as absent where host functions are called on the spot, or kernels wait. */
typedef struct conform_gate {
  void *semaphore;
} conform_gate;

conform_gate conform_gate_shut(tn_stream *stream);
void conform_gate_open(conform_gate *gate);

/* The same where host functions are called on the spot, too: there the stream
 * gets work of some milliseconds; none where kernels wait. Not for streams of
 * which the host waits before the end. */
typedef struct conform_delay {
  conform_gate gate;
} conform_delay;

conform_delay conform_delay_begin(tn_stream *stream);
void conform_delay_end(conform_delay *delay);

/* Of the monotonic clock, in milliseconds. */
double conform_now(void);

/* Lets time pass, so that what must not happen has its chance; a few ms, and
 * more with some seeds. */
void conform_linger(void);

/* Asks until the stream is done or `ms` have passed; what it answered last. */
tn_status conform_poll(tn_stream *stream, double ms);

/* A kernel of conformance/kernels.c; absent without a compiler for them. */
tn_kernel *conform_kernel(const char *name);

/* Launches of built-in kernels, fill_f32 and add_f32, which need none: y =
 * value and y = y + 1. The first one must be outside of captures. */
tn_status conform_set(float *y, float value, int64_t count);
tn_status conform_add_one(float *y, int64_t count);

/* Ends the test unless all elements have the value. */
void conform_floats(const float *y, float wanted, int64_t count,
                    const char *format, ...) TN_PRINTF(4, 5);

/* Runs `part` in a forked child; what it returns is given back, or 1000 and
 * the signal that ended it. Up to `size` bytes that it writes to `answer` come
 * back, too. The library must not have been used if the child is to use it. */
int conform_fork(int (*part)(void *answer), void *answer, size_t size);

/* Whether memory of the device takes bytes and gives them back. */
bool conform_works(tn_device device);

#define CONFORM_SECTION(section, tests) \
  const conform_section section = { tests, sizeof tests / sizeof *tests }

#endif
