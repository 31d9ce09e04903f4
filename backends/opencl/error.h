/* OpenCL's codes as statuses and text. */
#ifndef TN_OPENCL_ERROR_H
#define TN_OPENCL_ERROR_H

#include "backends/opencl/loader.h"
#include "tenon/backend.h"

/* The services of the host, set once by tn_backend_entry. */
extern const tn_host_api *tn_host;

/* "CL_OUT_OF_RESOURCES"; never NULL. Static text. */
const char *tn_opencl_code_name(cl_int code);

tn_status tn_opencl_code_status(cl_int code);

/* Sets the error "CALL answered CODE on DEVICE" and returns its status;
 * TN_OK for CL_SUCCESS. */
tn_status tn_opencl_check(cl_int code, const char *call,
                          const tn_backend_device *device);

#endif
