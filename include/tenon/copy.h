/* Tenon: moving bytes between the host and devices.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_COPY_H
#define TENON_COPY_H

#include "tenon/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `bytes` bytes. A device "not given" ({0}) or of the cpu backend
 * means host memory on that side. The copy is ordered after the current
 * streams of both devices, which both wait for it, and overlapping ranges
 * behave as if the source were copied first.
 *
 * Without non_blocking the call returns when the copy is complete, if the
 * host is on one side. With it the host does not wait: memory from
 * tn_malloc_pinned must stay as it is until the stream got that far; other
 * host memory is taken at once when it is the source, and is complete on
 * return when it is the destination. With a device on both sides, of one
 * backend (cpu too), it is queued like any other work.
 *
 * Errors: TN_SIZE_OVERFLOW (a range wraps), TN_INVALID_ARGUMENT (NULL with
 * bytes > 0), those of the devices. */
TN_API tn_status tn_copy(void *dst, tn_device dst_device, const void *src,
                         tn_device src_device, size_t bytes,
                         bool non_blocking);

/* Sets bytes on the device's current stream; `value` is 0 to 255. */
TN_API tn_status tn_fill_bytes(void *dst, tn_device device, int value,
                               size_t bytes);

/* Why copies between two devices are direct ("peer") or staged, one line into
 * `text`; returns its length like snprintf, -1 on failure. */
TN_API int tn_copy_path(tn_device dst, tn_device src, char *text,
                        size_t size);

#ifdef __cplusplus
}
#endif
#endif
