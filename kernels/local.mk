# The built-in kernels: object code for the cpu plugin, one library for each
# instruction-set level (section tn_kernels_LEVEL), and self-contained texts
# (NAME.kernel) for plugins that compile kernels themselves.
kernel_sources = \
  %D%/attention.c \
  %D%/bytes.c \
  %D%/cast.c \
  %D%/cast_f64.c \
  %D%/cumsum.c \
  %D%/cumsum_f64.c \
  %D%/division.c \
  %D%/division_f64.c \
  %D%/elementwise.c \
  %D%/elementwise_f64.c \
  %D%/elementwise_i32.c \
  %D%/elementwise_i64.c \
  %D%/elementwise_u8.c \
  %D%/functions.c \
  %D%/functions_f64.c \
  %D%/histogram.c \
  %D%/indexing.c \
  %D%/indexing_f64.c \
  %D%/layer_norm.c \
  %D%/layer_norm_f64.c \
  %D%/matmul.c \
  %D%/matmul_f64.c \
  %D%/matmul_int.c \
  %D%/optim.c \
  %D%/optim_f64.c \
  %D%/move.c \
  %D%/attention_f64.c \
  %D%/random.c \
  %D%/random_f64.c \
  %D%/reduce.c \
  %D%/reduce_f64.c \
  %D%/reduce_i64.c \
  %D%/softmax.c \
  %D%/softmax_f64.c
kernel_headers = \
  %D%/attention_forms.h \
  %D%/cast_forms.h \
  %D%/column_strips.h \
  %D%/cumsum_forms.h \
  %D%/division_real.h \
  %D%/elementwise_forms.h \
  %D%/elementwise_integer.h \
  %D%/elementwise_real.h \
  %D%/functions_real.h \
  %D%/layer_norm_forms.h \
  %D%/loss_forms.h \
  %D%/matmul_blocks.h \
  %D%/matmul_direct.h \
  %D%/matmul_lanes.h \
  %D%/matmul_shape.h \
  %D%/matmul_tiles.h \
  %D%/reduce_forms.h \
  %D%/optim_forms.h \
  %D%/row_forms.h \
  %D%/scatter_forms.h \
  %D%/softmax_forms.h
noinst_HEADERS += $(kernel_headers)
EXTRA_DIST += $(kernel_sources) %D%/README.md build-aux/flatten.awk \
  build-aux/kernel_headers.awk \
  build-aux/fit_kernel_math.py build-aux/fit_kernel_math_f64.py

# Our flags come after the user's: those must not change what kernels compute,
# nor what they need of the processor. automake's rules have it the other way.
# Whoever links libbaseline.la has fma and fmaf for it: of -lm, or its own.
kernel_libraries = %D%/libbaseline.la
noinst_LTLIBRARIES += %D%/libbaseline.la
%C%_libbaseline_la_SOURCES =
%C%_libbaseline_la_LIBADD = $(kernel_sources:.c=.baseline.lo)
kernel_objects = $(kernel_sources:.c=.baseline.lo)
if CPU_LEVELS
kernel_libraries += %D%/libv3.la %D%/libv4.la
noinst_LTLIBRARIES += %D%/libv3.la %D%/libv4.la
%C%_libv3_la_SOURCES =
%C%_libv3_la_LIBADD = $(kernel_sources:.c=.v3.lo)
%C%_libv4_la_SOURCES =
%C%_libv4_la_LIBADD = $(kernel_sources:.c=.v4.lo)
kernel_objects += $(kernel_sources:.c=.v3.lo) $(kernel_sources:.c=.v4.lo)
endif
kernel_compile = $(AM_V_CC)$(MKDIR_P) $(@D) && family=`basename $< .c` && \
  $(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) \
  --mode=compile $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) \
  $(CFLAGS) $(TN_KERNEL_CFLAGS) -DTN_CPU_FAMILY=$$family -c -o $@ $<
SUFFIXES += .baseline.lo .v3.lo .v4.lo
.c.baseline.lo:
	$(kernel_compile) -DTN_CPU_LEVEL=baseline
.c.v3.lo:
	$(kernel_compile) -DTN_CPU_LEVEL=v3 $(TN_V3_CFLAGS)
.c.v4.lo:
	$(kernel_compile) -DTN_CPU_LEVEL=v4 $(TN_V4_CFLAGS)
# Which headers each is made of.
include %D%/headers.mk

# What libtool makes beside them, which automake does not know of.
mostlyclean-local:
	rm -f %D%/*.lo %D%/*.o %D%/$(LT_OBJDIR)*.o

kernel_texts = \
  %D%/attention.kernel \
  %D%/bytes.kernel \
  %D%/cast.kernel \
  %D%/cast_f64.kernel \
  %D%/cumsum.kernel \
  %D%/cumsum_f64.kernel \
  %D%/division.kernel \
  %D%/division_f64.kernel \
  %D%/elementwise.kernel \
  %D%/elementwise_f64.kernel \
  %D%/elementwise_i32.kernel \
  %D%/elementwise_i64.kernel \
  %D%/elementwise_u8.kernel \
  %D%/functions.kernel \
  %D%/functions_f64.kernel \
  %D%/histogram.kernel \
  %D%/indexing.kernel \
  %D%/indexing_f64.kernel \
  %D%/layer_norm.kernel \
  %D%/layer_norm_f64.kernel \
  %D%/matmul.kernel \
  %D%/matmul_f64.kernel \
  %D%/matmul_int.kernel \
  %D%/optim.kernel \
  %D%/optim_f64.kernel \
  %D%/move.kernel \
  %D%/attention_f64.kernel \
  %D%/random.kernel \
  %D%/random_f64.kernel \
  %D%/reduce.kernel \
  %D%/reduce_f64.kernel \
  %D%/reduce_i64.kernel \
  %D%/softmax.kernel \
  %D%/softmax_f64.kernel
kernelsdir = $(pkgdatadir)/kernels
kernels_DATA = $(kernel_texts)
CLEANFILES += $(kernel_texts)
SUFFIXES += .kernel
.c.kernel:
	$(AM_V_GEN)$(MKDIR_P) %D% && $(AWK) -v include=$(top_srcdir)/include \
	  -f $(top_srcdir)/build-aux/flatten.awk $< > $@.tmp && mv $@.tmp $@
$(kernel_texts): build-aux/flatten.awk

# What nvcc makes of them, committed: plugins are built with no nvcc too.
kernel_ptx = \
  %D%/ptx/attention.ptx \
  %D%/ptx/bytes.ptx \
  %D%/ptx/cast.ptx \
  %D%/ptx/cast_f64.ptx \
  %D%/ptx/cumsum.ptx \
  %D%/ptx/cumsum_f64.ptx \
  %D%/ptx/division.ptx \
  %D%/ptx/division_f64.ptx \
  %D%/ptx/elementwise.ptx \
  %D%/ptx/elementwise_f64.ptx \
  %D%/ptx/elementwise_i32.ptx \
  %D%/ptx/elementwise_i64.ptx \
  %D%/ptx/elementwise_u8.ptx \
  %D%/ptx/functions.ptx \
  %D%/ptx/functions_f64.ptx \
  %D%/ptx/histogram.ptx \
  %D%/ptx/indexing.ptx \
  %D%/ptx/indexing_f64.ptx \
  %D%/ptx/layer_norm.ptx \
  %D%/ptx/layer_norm_f64.ptx \
  %D%/ptx/matmul.ptx \
  %D%/ptx/matmul_f64.ptx \
  %D%/ptx/matmul_int.ptx \
  %D%/ptx/optim.ptx \
  %D%/ptx/optim_f64.ptx \
  %D%/ptx/move.ptx \
  %D%/ptx/attention_f64.ptx \
  %D%/ptx/random.ptx \
  %D%/ptx/random_f64.ptx \
  %D%/ptx/reduce.ptx \
  %D%/ptx/reduce_f64.ptx \
  %D%/ptx/reduce_i64.ptx \
  %D%/ptx/softmax.ptx \
  %D%/ptx/softmax_f64.ptx
EXTRA_DIST += $(kernel_ptx) build-aux/kernel_ptx.sh
