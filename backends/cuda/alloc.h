#ifndef TN_CUDA_ALLOC_H
#define TN_CUDA_ALLOC_H

#include "tenon/backend.h"

extern const tn_backend_alloc_table tn_cuda_alloc_table;

#endif
