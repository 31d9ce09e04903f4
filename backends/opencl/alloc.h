/* The alloc table. */
#ifndef TN_OPENCL_ALLOC_H
#define TN_OPENCL_ALLOC_H

#include "tenon/backend.h"

extern const tn_backend_alloc_table tn_opencl_alloc_table;

#endif
