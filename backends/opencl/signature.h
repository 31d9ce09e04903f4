/* Kernels' parameters as text. */
#ifndef TN_OPENCL_SIGNATURE_H
#define TN_OPENCL_SIGNATURE_H

#include "backends/opencl/device.h"

/* One line for each kernel of a built program: its name, a tab, and the
 * signature, or "!" and why it cannot be launched. The caller's, by free.
 * NULL with the error set. */
char *tn_opencl_signatures(cl_program program,
                           const tn_backend_device *device);

/* The number of parameters of a signature. */
uint32_t tn_opencl_signature_count(const char *signature);

/* Writes the size of each parameter's value, 0 for pointers. */
void tn_opencl_signature_sizes(const char *signature, uint8_t *sizes);

#endif
