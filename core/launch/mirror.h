/* Kernels on devices whose backend has no launch table.
 *
 * The cpu runs them in the backend's place. Where the host may use the
 * device's memory it does so in place; otherwise the whole blocks in which a
 * kernel's pointer arguments lie are copied to host memory, their mirrors, the
 * kernel works on those, and the blocks that it may write are copied back. All
 * streams of the device are waited for, and it is complete when the call
 * returns: a stream that waits for what the caller is yet to do waits for
 * good. */
#ifndef TN_CORE_LAUNCH_MIRROR_H
#define TN_CORE_LAUNCH_MIRROR_H

#include "core/launch/module.h"

/* A pointer argument that is in no memory of the kernel's device is refused
 * with TN_INVALID_ARGUMENT, by name; NULL is handed on. The caller is inside
 * tn_enter. */
tn_status tn_mirror_launch(tn_kernel *kernel, tn_stream *stream,
                           const tn_backend_launch_desc *desc,
                           const uint64_t *slots);

/* For the end: gives the mirrors' memory back. */
void tn_mirror_end(void);

#endif
