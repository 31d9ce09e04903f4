#ifndef TN_CUDA_COPY_H
#define TN_CUDA_COPY_H

#include "tenon/backend.h"

extern const tn_backend_copy_table tn_cuda_copy_table;

#endif
