/* All trials on one runner, as TAP. */
#ifndef TN_TESTS_KERNELS_SURVEY_H
#define TN_TESTS_KERNELS_SURVEY_H

#include "tests/kernels/trial.h"

/* Runs every trial of every family but those with `skip` in their names
 * (NULL: all); one TAP line for each kernel. `where` names the runner in it. */
void survey_kernels(const kernel_runner *runner, const char *where,
                    const char *skip, uint64_t seed);

/* Runs them with a fixed seed and compares the hashes of what comes out with
 * tests/numbers_golden.txt below $top_srcdir; one TAP line. Hashes are the
 * same everywhere, so they show what has changed from release to release. */
void survey_golden(const kernel_runner *runner, const char *where,
                   const char *skip);

/* Prints that file. */
void survey_print(const kernel_runner *runner);

/* TN_TEST_SEED, or else one that differs from run to run; it is printed. */
uint64_t survey_seed(void);

#endif
