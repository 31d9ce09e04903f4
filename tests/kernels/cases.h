/* The trials of each family, ended by a case without a name. */
#ifndef TN_TESTS_KERNELS_CASES_H
#define TN_TESTS_KERNELS_CASES_H

#include "tests/kernels/trial.h"

extern const kernel_case elementwise_cases[];
extern const kernel_case elementwise_f64_cases[];
extern const kernel_case function_cases[];
extern const kernel_case typed_cases[];
extern const kernel_case reduce_cases[];
extern const kernel_case matmul_cases[];
extern const kernel_case optim_cases[];
extern const kernel_case random_cases[];
extern const kernel_case bytes_cases[];
extern const kernel_case reduce_types_cases[];
extern const kernel_case row_cases[];
extern const kernel_case cumsum_cases[];
extern const kernel_case loss_cases[];
extern const kernel_case attention_cases[];
extern const kernel_case attention_f64_cases[];
extern const kernel_case indexing_cases[];
extern const kernel_case indexing_f64_cases[];
extern const kernel_case product_cases[];
extern const kernel_case product_f64_cases[];

/* All of them, ended by NULL. */
extern const kernel_case *const all_cases[];

#endif
