/* The list of all families' trials. */
#include "tests/kernels/cases.h"

const kernel_case *const all_cases[] = {
  optim_cases,       function_cases,        typed_cases,
  elementwise_cases, elementwise_f64_cases, reduce_cases, matmul_cases,
  random_cases,      bytes_cases,           reduce_types_cases,
  row_cases,         cumsum_cases,          loss_cases,
  attention_f64_cases,
  attention_cases,   indexing_cases,        indexing_f64_cases,
  product_cases,     product_f64_cases,
  NULL,
};
