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

# make gpu-check: on a real GPU, the tests that take a device and what else has
# to be seen there.
EXTRA_DIST += %D%/gpu_check.sh
CLEANFILES += gpu-check.json
gpu-check: $(backend_LTLIBRARIES) $(bin_PROGRAMS) $(kernel_texts) \
  examples/textstats$(EXEEXT)
	$(MAKE) $(AM_MAKEFLAGS) $(device_tests:%=%$(EXEEXT)) \
	  tests/cudaemu_strict$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/gpu_check.sh
.PHONY: gpu-check
