/* Finding the devices. */
#ifndef TN_CUDA_SURVEY_H
#define TN_CUDA_SURVEY_H

#include "backends/cuda/device.h"

/* All devices in the driver's order, which the first call fixes: it
 * initialises the driver. Any thread. TN_DEVICE_UNAVAILABLE with a reason if
 * there is none, TN_FORKED in a process that forked after that. */
tn_status tn_cuda_survey(tn_backend_device **devices, int *count);

/* How many devices there will be, and their facts (NULL: not wanted), without
 * initialising the driver in this process, so that a fork does no harm. Of an
 * ordinal that is not there: TN_NO_SUCH_DEVICE. */
tn_status tn_cuda_count(int *count);
tn_status tn_cuda_info(int ordinal, tn_backend_device_info *info);

/* Whether the device is the one that tn_cuda_info last described under its
 * ordinal, if it did; else an error naming both. */
tn_status tn_cuda_check_told(int ordinal, const tn_backend_device *device);

/* Frees what the survey holds; every device is closed. */
void tn_cuda_survey_end(void);

#endif
