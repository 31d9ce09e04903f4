/* Work of nodes, from the parameters that a program gives for them. Each gives
 * a code when it refuses them. All with the lock held. */
#ifndef TN_TESTS_CUDAEMU_LAUNCH_H
#define TN_TESTS_CUDAEMU_LAUNCH_H

#include "tests/cudaemu/graph.h"

CUresult emu_launch_work(const CUDA_KERNEL_NODE_PARAMS *wanted,
                         emu_work **work);
CUresult emu_copy_work(const CUDA_MEMCPY3D *wanted, emu_context *context,
                       emu_work **work);
CUresult emu_fill_work(const CUDA_MEMSET_NODE_PARAMS *wanted,
                       emu_context *context, emu_work **work);
CUresult emu_call_work(const CUDA_HOST_NODE_PARAMS *wanted,
                       emu_context *context, emu_work **work);

#endif
