# Tests of the cuda plugin that need no device, emulated or not.
if CUDA
dist_check_SCRIPTS += %D%/cuda_absent.sh %D%/cuda_listing.sh \
  %D%/cuda_drivers.sh %D%/cuda_failures.sh %D%/cuda_graph_faults.sh \
  %D%/cuda_graphs.sh \
  %D%/cuda_peers.sh
check_PROGRAMS += %D%/cuda_visible
check_DATA += $(cuda_test_programs:%=%$(EXEEXT))
endif
# What those run.
cuda_test_programs = %D%/cuda_late %D%/cuda_list %D%/cuda_peer \
  %D%/cuda_symbol
EXTRA_PROGRAMS += $(cuda_test_programs)
CLEANFILES += $(cuda_test_programs:%=%$(EXEEXT))
%C%_cuda_late_SOURCES = %D%/cuda_late.c %D%/tap.c
%C%_cuda_late_LDADD = $(tests_ldadd)
%C%_cuda_symbol_SOURCES = %D%/cuda_symbol.c
%C%_cuda_symbol_LDADD = -ldl
%C%_cuda_peer_SOURCES = %D%/cuda_peer.c %D%/tap.c
%C%_cuda_peer_LDADD = $(tests_ldadd)
%C%_cuda_list_SOURCES = %D%/cuda_list.c %D%/tap.c
%C%_cuda_list_LDADD = $(tests_ldadd)
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
EXTRA_PROGRAMS += %D%/gpu_driver
CLEANFILES += gpu-check.json %D%/gpu_driver$(EXEEXT)
%C%_gpu_driver_SOURCES = %D%/gpu_driver.c %D%/tap.c
%C%_gpu_driver_LDADD = -ldl
gpu_programs = %D%/gpu_driver$(EXEEXT) %D%/cuda_list$(EXEEXT) \
  tests/cudaemu_strict$(EXEEXT)
if CUDA
gpu_programs += bench/cuda$(EXEEXT)
endif
gpu-check: $(backend_LTLIBRARIES) $(bin_PROGRAMS) $(kernel_texts) \
  examples/textstats$(EXEEXT)
	$(MAKE) $(AM_MAKEFLAGS) $(device_tests:%=%$(EXEEXT)) $(gpu_programs)
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/gpu_check.sh
.PHONY: gpu-check

# The script itself, on the double.
if CUDA
dist_check_SCRIPTS += %D%/gpu_check_emulated.sh
check_DATA += $(gpu_programs)
endif
