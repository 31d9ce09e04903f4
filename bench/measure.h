/* Measuring one thing against another in the same process.
 *
 * A row is a ratio: the subject's time for a unit of work over that of a
 * limit or peer, or the inverse for throughput. Both sides run in turn, block
 * by block, so that a drift of the machine cancels; the row shows the median
 * of the blocks' ratios and their quartiles. */
#ifndef TN_BENCH_MEASURE_H
#define TN_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Does the work `count` times. */
typedef void (*bench_work)(void *argument, int64_t count);

typedef struct bench_side {
  const char *name;
  bench_work work;
  void *argument;
} bench_side;

typedef enum bench_goal {
  BENCH_AT_MOST,  /* subject time / limit time <= goal */
  BENCH_AT_LEAST, /* limit time / subject time >= goal */
  BENCH_REPORTED  /* as AT_LEAST, but nothing is asked */
} bench_goal;

typedef struct bench_case {
  const char *name; /* "64 MiB add, 2 threads" */
  bench_side subject, limit;
  bench_goal goal;
  double wanted;
  double scale;     /* subject units for one limit unit's work; 0 means 1 */
  double amount;    /* bytes or operations of one unit, for the last column */
  const char *unit; /* "GB/s", "GFLOP/s" or NULL: nanoseconds */
} bench_case;

/* Nanoseconds of a steady clock. */
double bench_now(void);

/* Measures and prints a row; adds it to the JSON file if there is one.
 * Returns whether the goal is met. */
bool bench_run(const bench_case *one);

/* Prints a row from ratios measured elsewhere (child processes). */
bool bench_report(const bench_case *one, double *ratios, int count,
                  double subject_ns, double limit_ns);

/* Rows are also written here as JSON; NULL for none. */
void bench_json_open(FILE *file);
void bench_json_close(void);

/* Rows whose name does not contain the text are left out. */
void bench_filter(const char *text);
bool bench_wanted(const char *name);

/* From now on each case's work is run, little of it, and nothing is measured:
 * its line says so after `label`. */
void bench_rehearse(const char *label);

/* The number of goals missed so far. */
int bench_missed(void);

/* Keeps a value from being optimised away. */
static inline void bench_keep(const void *value)
{
  __asm__ volatile("" : : "r"(value) : "memory");
}

#endif
