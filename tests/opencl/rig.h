/* The opencl plugin driven by its tables alone, with a host of our own. */
#ifndef TN_TESTS_OPENCL_RIG_H
#define TN_TESTS_OPENCL_RIG_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>

#include "tenon/backend.h"

extern const tn_backend_api *api;
extern tn_backend_device *device; /* device 0 */
extern tn_backend_stream *stream; /* of device 0 */
extern tn_backend_device_info info;
extern int device_count;
extern bool has_svm;  /* addresses are shared virtual memory */
extern bool is_basic; /* PoCL that runs commands in the calling thread: waits
                       * on a user event deadlock there */

/* The last error's text, of this thread. */
extern __thread char last_error[TN_BACKEND_TEXT_SIZE];

/* What the plugin asked of the host's cache. */
extern int cache_hits, cache_stores;
/* Makes the next entry found differ from what was stored. */
extern bool cache_is_damaged;
extern int error_lines; /* logged at TN_LOG_ERROR */

/* Loads the plugin and opens device 0; false if there is none, which was
 * reported, or if that failed, which was reported as a failure. */
bool rig_start(void);
void rig_end(void);

/* The plugin's entry function. */
extern tn_backend_entry_function rig_entry;
extern const tn_host_api rig_host;

/* Calls of OpenCL itself, for what the tables cannot bring about. */
typedef struct rig_calls {
  __typeof__(clCreateUserEvent) *create_user_event;
  __typeof__(clSetUserEventStatus) *set_user_event_status;
  __typeof__(clEnqueueMarkerWithWaitList) *enqueue_marker;
  __typeof__(clReleaseEvent) *release_event;
  __typeof__(clCreateCommandQueue) *create_queue;
  __typeof__(clReleaseCommandQueue) *release_queue;
  __typeof__(clGetProgramInfo) *get_program_info;
} rig_calls;
extern rig_calls raw;

void *rig_native(tn_native_kind kind, const void *object);

tn_address rig_alloc(int32_t kind, uint64_t bytes);
void rig_free(int32_t kind, tn_address address);

/* A plain copy's descriptor. NULL for the host. */
tn_copy_desc rig_copy_desc(tn_backend_device *to, tn_address dst,
                           tn_backend_device *from, tn_address src,
                           uint64_t bytes);
tn_status rig_copy(const tn_copy_desc *desc);
tn_status rig_write(tn_address dst, const void *src, uint64_t bytes);
tn_status rig_read(void *dst, tn_address src, uint64_t bytes);

tn_backend_stream *rig_stream(tn_backend_device *of);
tn_point rig_record(tn_backend_stream *of, uint32_t flags);

/* Waits for all of a stream's work. */
void rig_wait(tn_backend_stream *of);

tn_backend_module *rig_module(tn_module_kind kind, const char *name,
                              const char *text);
tn_backend_kernel *rig_kernel(tn_backend_module *module, const char *name);

/* A launch of `items` items, tag 7, on `stream`. */
tn_status rig_launch(tn_backend_kernel *kernel, int64_t items,
                     const uint64_t *slots);

/* The groups of tests. */
void test_devices(void);
void test_memory(void);
void test_copies(unsigned seed);
void test_streams(void);
void test_failures(void);
void test_modules(void);
void test_launches(void);
void test_pairs(void);

#endif
