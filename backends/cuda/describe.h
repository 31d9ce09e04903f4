/* What a device says of itself. */
#ifndef TN_CUDA_DESCRIBE_H
#define TN_CUDA_DESCRIBE_H

#include "backends/cuda/device.h"
#include "backends/cuda/nvml.h"

/* Of all devices; an integrated one has TN_CAP_UNIFIED too. */
#define TN_CUDA_CAPABILITIES \
  (TN_CAP_F64 | TN_CAP_FAST_FMA | TN_CAP_DENORMALS | TN_CAP_EXACT_DIVIDE | \
   TN_CAP_ATOMIC64)

/* cuMemAlloc promises no more. */
#define TN_CUDA_ALIGNMENT 256

/* Fills what is known of a device from its id, by the driver, which is
 * initialised. */
CUresult tn_cuda_describe(tn_backend_device *device);

/* The same facts from a board, without the driver; false where they cannot be
 * told from that. The memory is the board's, of which the driver keeps some. */
bool tn_cuda_describe_board(const tn_cuda_board *board,
                            tn_backend_device_info *info);

/* The driver's text, and why the device cannot be used, if so. */
void tn_cuda_judge(tn_backend_device_info *info, uint32_t capability,
                   uint32_t mode);

/* Where the kernel notes it, -1 where it does not. */
int tn_cuda_numa_node(const char *pci_id);

#endif
