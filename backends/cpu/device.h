/* The device table. */
#ifndef TN_BACKENDS_CPU_DEVICE_H
#define TN_BACKENDS_CPU_DEVICE_H

#include <stdbool.h>

#include "tenon/backend.h"

struct tn_backend_device {
  int ordinal;
  uint64_t memory; /* bytes, shared with the other cpu devices */
};

tn_status tn_cpu_device_count(void *self, int *count);
tn_status tn_cpu_device_info(void *self, int ordinal,
                             tn_backend_device_info *info);
tn_status tn_cpu_device_open(void *self, int ordinal,
                             tn_backend_device **device);
void tn_cpu_device_close(tn_backend_device *device);
void tn_cpu_device_shutdown(void *self);
tn_status tn_cpu_device_after_fork(void *self);

#endif
