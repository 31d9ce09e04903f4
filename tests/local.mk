TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
  $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)

# Tests find the plugins of the build tree, and only those; a cache of their
# own, so that nothing outside the build tree is read or written.
# ThreadSanitizer would wait a second at the end of each of hundreds of them,
# and end forked children that list devices by drivers with threads.
AM_TESTS_ENVIRONMENT = \
  TENON_BACKEND_PATH=`echo $(backend_path) $(layer_path) $(test_backend_path) | tr ' ' ':'`; \
  TENON_CACHE_DIR='$(abs_top_builddir)/tests/cache'; \
  POCL_CACHE_DIR='$(abs_top_builddir)/tests/pocl-cache'; \
  TENON_KERNEL_PATH='$(abs_top_builddir)/kernels'; \
  top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
  CC='$(CC)'; TN_SANITIZERS='$(TN_SANITIZERS)'; \
  TN_PYTHON='$(TN_PYTHON)'; TN_TORCH_PYTHON='$(TN_TORCH_PYTHON)'; \
  export TN_PYTHON TN_TORCH_PYTHON; \
  LSAN_OPTIONS="suppressions=$(abs_top_srcdir)/tests/leaks.txt:print_suppressions=0:$$LSAN_OPTIONS"; \
  TSAN_OPTIONS="atexit_sleep_ms=0:die_after_fork=0:$$TSAN_OPTIONS"; \
  export LSAN_OPTIONS TSAN_OPTIONS; \
  export TENON_BACKEND_PATH TENON_CACHE_DIR POCL_CACHE_DIR TENON_KERNEL_PATH; \
  device_tests='$(device_tests)'; \
  export top_srcdir top_builddir CC TN_SANITIZERS device_tests;

# C tests are tests/NAME.c, linked with libtenon and tests/tap.c. Those that
# work on any device take its string from TN_TEST_DEVICE (default: cpu) and are
# added to device_tests too; on_NAME.sh runs them on other backends.
device_tests =
tests_ldadd = libtenon.la
TESTS += $(check_PROGRAMS) $(dist_check_SCRIPTS)

noinst_HEADERS += %D%/tap.h

check_PROGRAMS += %D%/status
%C%_status_SOURCES = %D%/status.c %D%/tap.c
%C%_status_LDADD = $(tests_ldadd)

clean-local:
	rm -rf tests/cache tests/pocl-cache tests/folder-*

include %D%/cpu/local.mk
include %D%/cuda.mk
include %D%/cudaemu/local.mk
include %D%/device.mk
include %D%/kernels/local.mk
include %D%/plugins/local.mk
include %D%/peers.mk
include %D%/programs.mk
include %D%/soak.mk
include %D%/structure.mk
include %D%/tensor/local.mk

dist_check_SCRIPTS += %D%/on_remote.sh
dist_check_SCRIPTS += %D%/on_template.sh %D%/template.sh
check_PROGRAMS += %D%/mirror
%C%_mirror_SOURCES = %D%/mirror.c %D%/tap.c
%C%_mirror_LDADD = $(tests_ldadd)
if OPENCL
dist_check_SCRIPTS += %D%/on_opencl.sh
endif
EXTRA_DIST += %D%/on_device.sh

if OPENCL
check_PROGRAMS += %D%/opencl_plugin
dist_check_SCRIPTS += %D%/opencl_variants.sh
endif
%C%_opencl_plugin_SOURCES = \
  %D%/opencl/copies.c \
  %D%/opencl/devices.c \
  %D%/opencl/failures.c \
  %D%/opencl/launches.c \
  %D%/opencl/memory.c \
  %D%/opencl/modules.c \
  %D%/opencl/pairs.c \
  %D%/opencl/rig.c \
  %D%/opencl/rig.h \
  %D%/opencl/streams.c \
  %D%/opencl/suppressions.c \
  %D%/opencl_plugin.c \
  %D%/tap.c

include %D%/exec.mk
