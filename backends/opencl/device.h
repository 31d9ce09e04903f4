/* The devices of all platforms. */
#ifndef TN_OPENCL_DEVICE_H
#define TN_OPENCL_DEVICE_H

#include <stdbool.h>

#include "backends/opencl/loader.h"
#include "tenon/backend.h"

/* Devices that may share memory and events: equal name, kind, driver and
 * platform. Others are kept apart, because drivers are little tested with
 * unlike devices in one context (PoCL deadlocks). */
typedef struct tn_opencl_context {
  cl_context handle; /* NULL until one of its devices is open */
  int open_count;
} tn_opencl_context;

struct tn_backend_device {
  cl_platform_id platform;
  cl_device_id id;
  tn_opencl_context *context; /* the first alike device's `own_context` */
  tn_opencl_context own_context;
  tn_backend_device_info info;
  cl_device_type type;
  bool has_svm;           /* addresses are shared virtual memory */
  bool has_fine_svm;      /* which the host may use in place */
  bool has_priorities;    /* cl_khr_priority_hints */
  bool has_slow_binaries; /* PoCL compiles every kernel again to give one */
  size_t base_alignment;  /* of sub-buffers, bytes */
  uint64_t piece_bytes;   /* largest allocation */
  uint64_t allocated;     /* bytes, atomic */
  cl_command_queue queue; /* for allocation; NULL while closed */
};

/* All devices in their order (see survey.c), which is final once there is
 * one. Any thread. TN_DEVICE_UNAVAILABLE with a reason if there is none,
 * TN_FORKED in a process that forked after the drivers were asked. */
tn_status tn_opencl_survey(tn_backend_device **devices, int *count);

/* The same facts for listings. Until the drivers are asked here, a short-lived
 * child asks them, once for each environment: so listing spoils no fork. */
tn_status tn_opencl_count(int *count);
tn_status tn_opencl_info(int ordinal, tn_backend_device_info *info);

/* After the survey: whether the device is the one that was listed. */
tn_status tn_opencl_check_listed(int ordinal);

tn_status tn_opencl_refuse_ordinal(int ordinal, int count);

/* Frees what the survey holds; every device is closed. */
void tn_opencl_survey_end(void);

/* Fills what is known of a device from its platform and id. */
void tn_opencl_describe(tn_backend_device *device);

extern const tn_backend_device_table tn_opencl_device_table;

#endif
