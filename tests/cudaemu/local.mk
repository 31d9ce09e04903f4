# The driver double for tests of the cuda backend; never installed.  Its
# pieces are libraries of this build tree.

# The PTX interpreter.  Its arithmetic is compiled so that nothing is
# contracted, and so that loops over lanes vectorise.
check_LTLIBRARIES += %D%/ptx/liblanes.la %D%/ptx/libround.la %D%/ptx/libptx.la

%C%_ptx_liblanes_la_SOURCES = \
  %D%/ptx/lane.h \
  %D%/ptx/lanes.c \
  %D%/ptx/lanes.h \
  %D%/ptx/lanes_convert.c \
  %D%/ptx/lanes_float.c \
  %D%/ptx/lanes_half.c \
  %D%/ptx/lanes_integer.c
%C%_ptx_liblanes_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -fno-math-errno \
  -fno-trapping-math

%C%_ptx_libround_la_SOURCES = %D%/ptx/lanes_round.c
%C%_ptx_libround_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -frounding-math

%C%_ptx_libptx_la_SOURCES = \
  %D%/ptx/arena.c \
  %D%/ptx/arena.h \
  %D%/ptx/atomic.c \
  %D%/ptx/barrier.c \
  %D%/ptx/code.h \
  %D%/ptx/compute.c \
  %D%/ptx/exchange.c \
  %D%/ptx/execute.c \
  %D%/ptx/fault.c \
  %D%/ptx/form.c \
  %D%/ptx/form.h \
  %D%/ptx/forms.h \
  %D%/ptx/launch.c \
  %D%/ptx/lexer.c \
  %D%/ptx/lexer.h \
  %D%/ptx/memory.c \
  %D%/ptx/module.c \
  %D%/ptx/parse.c \
  %D%/ptx/parse.h \
  %D%/ptx/parse_body.c \
  %D%/ptx/parse_function.c \
  %D%/ptx/parse_instruction.c \
  %D%/ptx/parse_move.c \
  %D%/ptx/parse_number.c \
  %D%/ptx/parse_operand.c \
  %D%/ptx/parse_variable.c \
  %D%/ptx/ptx.h \
  %D%/ptx/race.c \
  %D%/ptx/run.h \
  %D%/ptx/word.c \
  %D%/ptx/word.h
%C%_ptx_libptx_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
%C%_ptx_libptx_la_LIBADD = %D%/ptx/liblanes.la %D%/ptx/libround.la -lm

# Its tests: tests/ptx_NAME.c
ptx_device = %D%/ptx_device.c %D%/ptx_device.h tests/tap.c
ptx_operation = $(ptx_device) %D%/ptx_operation.c %D%/ptx_operation.h
ptx_ldadd = %D%/ptx/libptx.la $(tests_ldadd)

check_PROGRAMS += tests/ptx_integer tests/ptx_float tests/ptx_convert
tests_ptx_integer_SOURCES = tests/ptx_integer.c $(ptx_operation)
tests_ptx_integer_LDADD = $(ptx_ldadd)
tests_ptx_float_SOURCES = tests/ptx_float.c $(ptx_operation)
tests_ptx_float_LDADD = $(ptx_ldadd)
tests_ptx_float_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -frounding-math
tests_ptx_convert_SOURCES = tests/ptx_convert.c $(ptx_operation)
tests_ptx_convert_LDADD = $(ptx_ldadd)
tests_ptx_convert_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -frounding-math

check_PROGRAMS += tests/ptx_errors tests/ptx_warps tests/ptx_faults
tests_ptx_errors_SOURCES = tests/ptx_errors.c $(ptx_device)
tests_ptx_errors_LDADD = $(ptx_ldadd)
tests_ptx_warps_SOURCES = tests/ptx_warps.c $(ptx_device)
tests_ptx_warps_LDADD = $(ptx_ldadd)
tests_ptx_faults_SOURCES = tests/ptx_faults.c $(ptx_device)
tests_ptx_faults_LDADD = $(ptx_ldadd)
EXTRA_DIST += %D%/warps.ptx

# The built-in kernels' PTX on it, and whether that is what nvcc makes.
check_PROGRAMS += tests/ptx_kernels
tests_ptx_kernels_SOURCES = tests/ptx_kernels.c %D%/ptx_device.c \
  %D%/ptx_device.h
tests_ptx_kernels_LDADD = tests/kernels/libtrials.la $(ptx_ldadd)
dist_check_SCRIPTS += tests/kernels/ptx.sh

# The driver itself, and what runs a program under it: from 12.0 on, and, in
# old/, one before that.
check_LTLIBRARIES += %D%/libdriver.la %D%/libcuda.la %D%/old/libcuda.la
driver_cppflags = $(AM_CPPFLAGS) -D_GNU_SOURCE
driver_cflags = $(AM_CFLAGS) -fvisibility=hidden
driver_ldflags = $(AM_LDFLAGS) -rpath /nowhere -version-info 1:0:0 -no-undefined
%C%_libdriver_la_SOURCES = \
  %D%/access.c \
  %D%/access.h \
  %D%/address.c \
  %D%/address.h \
  %D%/board.c \
  %D%/callback.c \
  %D%/calls.h \
  %D%/capture.c \
  %D%/capture.h \
  %D%/context.c \
  %D%/copy.c \
  %D%/device.c \
  %D%/emulator.h \
  %D%/entry.c \
  %D%/event.c \
  %D%/exec.c \
  %D%/exec.h \
  %D%/graph.c \
  %D%/graph.h \
  %D%/host.c \
  %D%/host.h \
  %D%/launch.c \
  %D%/launch.h \
  %D%/memory_calls.c \
  %D%/module.c \
  %D%/module.h \
  layers/order.c \
  layers/order.h \
  %D%/report.c \
  %D%/settings.c \
  %D%/settings.h \
  %D%/stream.c \
  %D%/stream.h \
  %D%/symbols.c \
  %D%/thread.h \
  %D%/transfer.c \
  %D%/transfer.h \
  %D%/update.c \
  %D%/visible.c \
  %D%/visible.h \
  %D%/word.c
%C%_libdriver_la_CPPFLAGS = $(driver_cppflags)
%C%_libdriver_la_CFLAGS = $(driver_cflags)
%C%_libdriver_la_LIBADD = %D%/ptx/libptx.la -lpthread
%C%_libcuda_la_SOURCES = %D%/door.c
%C%_libcuda_la_CPPFLAGS = $(driver_cppflags)
%C%_libcuda_la_CFLAGS = $(driver_cflags)
%C%_libcuda_la_LIBADD = %D%/libdriver.la
%C%_libcuda_la_LDFLAGS = $(driver_ldflags)
%C%_old_libcuda_la_SOURCES = %D%/door_old.c
%C%_old_libcuda_la_CPPFLAGS = $(driver_cppflags)
%C%_old_libcuda_la_CFLAGS = $(driver_cflags)
%C%_old_libcuda_la_LIBADD = %D%/libdriver.la
%C%_old_libcuda_la_LDFLAGS = $(driver_ldflags)

# NVIDIA's management library, in a folder of its own, for there may be none.
check_LTLIBRARIES += %D%/nvml/libnvidia-ml.la
%C%_nvml_libnvidia_ml_la_SOURCES = %D%/board.c %D%/nvml.c %D%/settings.c \
  %D%/settings.h
%C%_nvml_libnvidia_ml_la_CPPFLAGS = $(driver_cppflags)
%C%_nvml_libnvidia_ml_la_CFLAGS = $(driver_cflags)
%C%_nvml_libnvidia_ml_la_LIBADD = -lpthread
%C%_nvml_libnvidia_ml_la_LDFLAGS = $(driver_ldflags)

# cudaemu-run [OPTIONS] COMMAND...
check_SCRIPTS += %D%/cudaemu-run
EXTRA_DIST += %D%/run.sh %D%/leaks.txt
CLEANFILES += %D%/cudaemu-run
%D%/cudaemu-run: %D%/run.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && { \
	  echo '#!$(SHELL)'; \
	  echo "folder='$(abs_top_builddir)/%D%'"; \
	  echo "objects='$(LT_OBJDIR)'"; \
	  echo "leaks='$(abs_top_srcdir)/%D%/leaks.txt'"; \
	  echo ": \$${TENON_BACKEND_PATH:=`echo $(backend_path) | tr ' ' ':'`}"; \
	  echo 'export TENON_BACKEND_PATH'; \
	  cat $(srcdir)/%D%/run.sh; \
	  } > $@.tmp && chmod +x $@.tmp && mv $@.tmp $@

# Wrong programs, each in a process of its own, and what they are told.
dist_check_SCRIPTS += tests/cudaemu_strict.sh
EXTRA_PROGRAMS += tests/cudaemu_strict
check_DATA += tests/cudaemu_strict$(EXEEXT)
CLEANFILES += tests/cudaemu_strict$(EXEEXT)
tests_cudaemu_strict_SOURCES = tests/cudaemu_strict.c tests/tap.c \
  %D%/strict/calls.c \
  %D%/strict/captures.c \
  %D%/strict/dependencies.c \
  %D%/strict/forks.c \
  %D%/strict/graphs.c \
  %D%/strict/launches.c \
  %D%/strict/memory.c \
  %D%/strict/modes.c \
  %D%/strict/order.c \
  %D%/strict/recording.c \
  %D%/strict/rig.c \
  %D%/strict/safety.c \
  %D%/strict/streams.c \
  %D%/strict/strict.h \
  %D%/strict/updates.c
tests_cudaemu_strict_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
tests_cudaemu_strict_LDADD = -ldl -lpthread

# The cuda backend on it.
if CUDA
dist_check_SCRIPTS += tests/on_cuda.sh tests/on_cuda_seeds.sh
endif
check_PROGRAMS += tests/cudaemu_order
tests_cudaemu_order_SOURCES = tests/cudaemu_order.c tests/tap.c layers/order.c
tests_cudaemu_order_CPPFLAGS = $(AM_CPPFLAGS)
