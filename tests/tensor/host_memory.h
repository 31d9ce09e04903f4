/* What tests/tensor/host_memory.c tries; each is true if all of it went well,
 * and ends the process if a value is wrong. */
#ifndef TN_TESTS_TENSOR_HOST_MEMORY_H
#define TN_TESTS_TENSOR_HOST_MEMORY_H

#include <stdbool.h>

#include <tenon/tenon.h>

extern tn_device device;

tn_tensor *ones(tn_shape shape, bool requires_grad);

/* ---- host_memory_tensors.c ---- */

bool make_and_read(void);
bool make_views(void);
bool compute(void);
bool record_in_place(void);
bool use_indices(void);
bool draw(void);
bool use_modes(void);

/* ---- host_memory_models.c ---- */

bool use_own_module(void);
bool use_optimisers(void);
bool use_graphed_modules(void);

#endif
