/* What the stream patterns are tried with: two streams of a device, memory, and
 * kernels. Every function returns false where a call of the library failed,
 * and then tn_error_message tells why. */
#ifndef STREAMS_LAB_H
#define STREAMS_LAB_H

#include <stdbool.h>

#include <tenon/tenon.h>

enum { COUNT = 4096, BYTES = COUNT * sizeof(float) };

/* The pieces that a round works with; each of COUNT floats. */
typedef struct lab {
  tn_device device;
  bool is_right;      /* the form of the pattern: right or wrong */
  float value;        /* another one in each round */
  tn_stream *one, *two;
  tn_kernel *fill, *add;
  float *x, *y, *sum; /* of the device */
  float *in[2], *out; /* pinned memory of the host */
  tn_event *done[2];
  float wanted, got;  /* the first wrong value of the round */
  bool is_wrong;
} lab;

bool lab_open(lab *l, tn_device device);
void lab_close(lab *l);

/* x = value, and y = a + b, queued on a stream of the lab's device. */
bool lab_fill(lab *l, tn_stream *stream, float *x, float value);
bool lab_add(lab *l, tn_stream *stream, float *y, const float *a,
             const float *b);

/* Copies between device and pinned memory, queued on a stream: the host does
 * not wait. */
bool lab_send(lab *l, tn_stream *stream, float *to, const float *pinned);
bool lab_fetch(lab *l, tn_stream *stream, float *pinned, const float *from);

/* Notes it if the elements are not all equal to `wanted`: of host memory as it
 * is now, or of a device's, which is copied on its default stream. */
void lab_expect_host(lab *l, const float *values, float wanted);
bool lab_expect(lab *l, tn_device device, const float *x, float wanted);

#endif
