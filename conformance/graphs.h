/* What tests of graphs are written with, beside check.h. */
#ifndef TN_CONFORMANCE_GRAPHS_H
#define TN_CONFORMANCE_GRAPHS_H

#include "conformance/check.h"

enum { GRAPH_COUNT = 1000 };

/* Two streams, and memory of GRAPH_COUNT floats, all 0. */
extern tn_stream *graph_stream, *graph_side;
extern float *graph_memory;

/* Makes them; kernels are there then, which may be compiled at first. */
void graph_begin(void);

float *graph_floats(void);

/* A new graph; one into which the stream is being captured. */
tn_graph *graph_new(void);
tn_graph *graph_capturing(tn_stream *stream);

/* Queues y = y + 1 on the current stream. */
void graph_add_one(float *y);

/* Waits for the device; ends the test unless all elements are `wanted`. */
void graph_is(const float *y, float wanted, const char *format, ...)
    TN_PRINTF(3, 4);

#endif
