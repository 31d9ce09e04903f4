/* The failing plugin: passes every call on to the one in the file
 * TN_FAILING_BASE, and lets one entry fail where a test says so. */
#ifndef TN_TESTS_PLUGINS_FAILING_H
#define TN_TESTS_PLUGINS_FAILING_H

#include "tenon/backend.h"

/* X(table, entry, parameters, arguments): all that give a status. */
#define FAILING_ENTRIES(X) \
  X(device, count, (void *a, int *b), (a, b)) \
  X(device, info, (void *a, int b, tn_backend_device_info *c), (a, b, c)) \
  X(device, open, (void *a, int b, tn_backend_device **c), (a, b, c)) \
  X(alloc, alloc, \
    (tn_backend_device *a, const tn_alloc_desc *b, tn_address *c), \
    (a, b, c)) \
  X(alloc, mem_info, (tn_backend_device *a, uint64_t *b, uint64_t *c), \
    (a, b, c)) \
  X(copy, copy, \
    (tn_backend_stream *a, tn_backend_device *b, const tn_copy_desc *c), \
    (a, b, c)) \
  X(copy, fill, \
    (tn_backend_stream *a, tn_backend_device *b, const tn_fill_desc *c), \
    (a, b, c)) \
  X(copy, peer_query, \
    (tn_backend_device *a, tn_backend_device *b, int *c), (a, b, c)) \
  X(copy, peer_enable, (tn_backend_device *a, tn_backend_device *b), (a, b)) \
  X(copy, peer_disable, (tn_backend_device *a, tn_backend_device *b), \
    (a, b)) \
  X(launch, module_load, \
    (tn_backend_device *a, const tn_module_desc *b, tn_backend_module **c), \
    (a, b, c)) \
  X(launch, kernel_get, \
    (tn_backend_module *a, const char *b, tn_backend_kernel **c), \
    (a, b, c)) \
  X(launch, kernel_info, (tn_backend_kernel *a, tn_kernel_info *b), (a, b)) \
  X(launch, launch, \
    (tn_backend_stream *a, tn_backend_kernel *b, \
     const tn_backend_launch_desc *c, const uint64_t *d), \
    (a, b, c, d)) \
  X(stream, create, \
    (tn_backend_device *a, const tn_stream_desc *b, tn_backend_stream **c), \
    (a, b, c)) \
  X(stream, flush, (tn_backend_stream *a), (a)) \
  X(stream, record, (tn_backend_stream *a, uint32_t b, tn_point *c), \
    (a, b, c)) \
  X(stream, wait, (tn_backend_stream *a, const tn_point *b, size_t c), \
    (a, b, c)) \
  X(stream, query, (tn_backend_device *a, const tn_point *b), (a, b)) \
  X(stream, host_wait, \
    (tn_backend_device *a, const tn_point *b, uint64_t c), (a, b, c)) \
  X(stream, elapsed, \
    (tn_backend_device *a, const tn_point *b, const tn_point *c, double *d), \
    (a, b, c, d)) \
  X(stream, host_function, \
    (tn_backend_stream *a, void (*b)(void *), void *c, tn_tag d), \
    (a, b, c, d)) \
  X(stream, take_error, (tn_backend_stream *a, tn_error_info *b), (a, b))

typedef struct failing_control {
  const char *entry; /* "copy.fill"; NULL: none fails */
  int status;
  int most; /* how often; -1: from then on */
  int calls, failed; /* of that entry since it was set */
} failing_control;

/* What the plugin exports beside its entry. */
#define FAILING_CONTROL_NAME "failing_control_get"
typedef failing_control *(*failing_control_function)(void);

#endif
