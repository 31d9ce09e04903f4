/* Compiled programs, kept on disk between runs. */
#ifndef TN_OPENCL_PROGRAM_H
#define TN_OPENCL_PROGRAM_H

#include "backends/opencl/device.h"

typedef struct tn_opencl_program {
  cl_program handle;
  char *signatures; /* as tn_opencl_signatures gives them; the caller's */
} tn_opencl_program;

/* Compiles source, or finds it compiled. `name` is for messages. */
tn_status tn_opencl_program_compile(tn_backend_device *device,
                                    const char *name, const char *source,
                                    size_t size, tn_opencl_program *program);

/* Takes a binary as clGetProgramInfo gives it. */
tn_status tn_opencl_program_take(tn_backend_device *device, const char *name,
                                 const void *binary, size_t size,
                                 tn_opencl_program *program);

#endif
