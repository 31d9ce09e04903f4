# Tests of the cuda plugin that need no device, emulated or not.
if CUDA
dist_check_SCRIPTS += %D%/cuda_absent.sh
check_PROGRAMS += %D%/cuda_visible
endif
%C%_cuda_visible_SOURCES = %D%/cuda_visible.c backends/cuda/nvml.h \
  backends/cuda/visible.c %D%/tap.c
%C%_cuda_visible_CPPFLAGS = $(AM_CPPFLAGS)

if CUDA_HEADER
check_PROGRAMS += %D%/cuda_declarations
endif
%C%_cuda_declarations_SOURCES = %D%/cuda_declarations.c %D%/tap.c
%C%_cuda_declarations_CPPFLAGS = $(AM_CPPFLAGS) $(TN_CUDA_CPPFLAGS)
