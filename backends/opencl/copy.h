/* The copy table. */
#ifndef TN_OPENCL_COPY_H
#define TN_OPENCL_COPY_H

#include "tenon/backend.h"

extern const tn_backend_copy_table tn_opencl_copy_table;

#endif
