# make bench: each figure beside its limit, as a table and as JSON.
EXTRA_PROGRAMS += %D%/start %D%/core %D%/layers %D%/kernels %D%/tensor
EXTRA_LTLIBRARIES = %D%/tiny.la %D%/plain.la
EXTRA_DIST += %D%/run.sh %D%/results/2026-11-30-zen4-2cores.json \
  %D%/results/2026-12-01-zen4-2cores-tensors.json \
  %D%/results/2026-12-01-emerald-rapids-2cores-tensors.json
noinst_HEADERS += %D%/cuda.h %D%/libtorch.h %D%/limit.h %D%/measure.h %D%/raw_cuda.h
bench_programs = %D%/start %D%/core %D%/layers %D%/kernels %D%/tensor \
  %D%/tiny.la %D%/plain.la

bench_sources = %D%/limit.c %D%/measure.c
bench_ldadd = libtenon.la $(LIBFFI_LIBS)
bench_cflags = $(AM_CFLAGS) -O2

%C%_start_SOURCES = %D%/start.c $(bench_sources)
%C%_start_CFLAGS = $(bench_cflags)
%C%_start_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFFI_CFLAGS)
%C%_start_LDADD = $(bench_ldadd)

%C%_core_SOURCES = %D%/core.c %D%/streams.c %D%/streams.h $(bench_sources)
%C%_core_CFLAGS = $(bench_cflags)
%C%_core_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFFI_CFLAGS)
%C%_core_LDADD = $(bench_ldadd)

%C%_layers_SOURCES = %D%/layers.c %D%/measure.c
%C%_layers_CFLAGS = $(bench_cflags)
%C%_layers_LDADD = -ldl

%C%_kernels_SOURCES = %D%/kernels.c $(bench_sources)
%C%_kernels_CFLAGS = $(bench_cflags)
%C%_kernels_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFFI_CFLAGS)
%C%_kernels_LDADD = $(bench_ldadd)

# Beside libtorch where it is found; its file is C++ with its own flags.
%C%_tensor_SOURCES = %D%/tensor.c %D%/training.c %D%/training.h \
  examples/charlm/model.c examples/charlm/model.h $(bench_sources)
%C%_tensor_CFLAGS = $(bench_cflags)
%C%_tensor_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFFI_CFLAGS)
%C%_tensor_LDADD = libtenon-tensor.la $(bench_ldadd) -lm
if LIBTORCH
EXTRA_LTLIBRARIES += %D%/liblibtorch.la
%C%_liblibtorch_la_SOURCES = %D%/libtorch.cc
%C%_liblibtorch_la_CPPFLAGS = -I$(top_srcdir) $(TN_LIBTORCH_CPPFLAGS)
%C%_liblibtorch_la_CXXFLAGS = -std=c++17 -O2
%C%_liblibtorch_la_LIBADD = -ltorch -ltorch_cpu -lc10
%C%_tensor_CPPFLAGS += -DTN_LIBTORCH
%C%_tensor_LDADD += -lstdc++ %D%/liblibtorch.la
# libtool puts those two before what needs them.
%C%_tensor_LDFLAGS = $(AM_LDFLAGS) -Wl,--no-as-needed
endif

if OPENCL
EXTRA_PROGRAMS += %D%/opencl
bench_programs += %D%/opencl
%C%_opencl_SOURCES = %D%/opencl.c $(bench_sources)
%C%_opencl_CFLAGS = $(bench_cflags)
%C%_opencl_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFFI_CFLAGS)
%C%_opencl_LDADD = $(bench_ldadd)
endif

if CUDA
EXTRA_PROGRAMS += %D%/cuda
bench_programs += %D%/cuda
%C%_cuda_SOURCES = %D%/cuda.c %D%/cuda_graph.c %D%/cuda_work.c %D%/raw_cuda.c \
  %D%/measure.c
%C%_cuda_CFLAGS = $(bench_cflags)
%C%_cuda_LDADD = $(bench_ldadd) -ldl
endif

%C%_tiny_la_SOURCES = %D%/tiny.c
%C%_tiny_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
  -rpath /nowhere

# The library as it would be without layers.
%C%_plain_la_SOURCES = $(libtenon_la_SOURCES)
%C%_plain_la_CPPFLAGS = $(libtenon_la_CPPFLAGS) -DTN_WITH_LAYERS=0
%C%_plain_la_LIBADD = $(libtenon_la_LIBADD)
%C%_plain_la_LDFLAGS = $(libtenon_la_LDFLAGS) -module -avoid-version \
  -shared -rpath /nowhere

# BENCH_FILTER=TEXT runs only the cases whose name contains it.
# One make after the other: side by side both would link libtenon.
bench:
	$(MAKE) $(AM_MAKEFLAGS) all
	$(MAKE) $(AM_MAKEFLAGS) $(bench_programs)
	$(AM_TESTS_ENVIRONMENT) \
	TINY=$(LT_OBJDIR)/tiny.so OBJECTS=$(LT_OBJDIR) \
	$(SHELL) $(srcdir)/%D%/run.sh \
	  '$(abs_top_builddir)' '$(abs_top_builddir)/bench.json' \
	  '$(BENCH_FILTER)'
.PHONY: bench
CLEANFILES += bench.json $(bench_programs)
