/* Asynchronous streams and events of cpu, among the core's rows. */
#ifndef TN_BENCH_STREAMS_H
#define TN_BENCH_STREAMS_H

#include "tenon/tenon.h"

/* Measures and prints their rows. */
void bench_streams(tn_device cpu);

#endif
