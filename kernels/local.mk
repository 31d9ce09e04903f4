# The built-in kernels: object code for the cpu plugin, one library for each
# instruction-set level (section tn_kernels_LEVEL), and self-contained texts
# (NAME.kernel) for plugins that compile kernels themselves.
kernel_sources = \
  %D%/bytes.c \
  %D%/elementwise.c \
  %D%/elementwise_f64.c \
  %D%/histogram.c \
  %D%/matmul.c \
  %D%/random.c \
  %D%/reduce.c
kernel_headers = %D%/elementwise_forms.h
noinst_HEADERS += $(kernel_headers)
EXTRA_DIST += %D%/README.md build-aux/flatten.awk build-aux/fit_kernel_math.py

kernel_libraries = %D%/libbaseline.la
noinst_LTLIBRARIES += %D%/libbaseline.la
%C%_libbaseline_la_SOURCES = $(kernel_sources)
%C%_libbaseline_la_CPPFLAGS = $(AM_CPPFLAGS) -DTN_CPU_LEVEL=baseline
%C%_libbaseline_la_CFLAGS = $(AM_CFLAGS) $(TN_KERNEL_CFLAGS)
%C%_libbaseline_la_LIBADD = -lm
if CPU_LEVELS
kernel_libraries += %D%/libv3.la %D%/libv4.la
noinst_LTLIBRARIES += %D%/libv3.la %D%/libv4.la
endif
%C%_libv3_la_SOURCES = $(kernel_sources)
%C%_libv3_la_CPPFLAGS = $(AM_CPPFLAGS) -DTN_CPU_LEVEL=v3
%C%_libv3_la_CFLAGS = $(AM_CFLAGS) $(TN_KERNEL_CFLAGS) $(TN_V3_CFLAGS)
%C%_libv4_la_SOURCES = $(kernel_sources)
%C%_libv4_la_CPPFLAGS = $(AM_CPPFLAGS) -DTN_CPU_LEVEL=v4
%C%_libv4_la_CFLAGS = $(AM_CFLAGS) $(TN_KERNEL_CFLAGS) $(TN_V4_CFLAGS)

kernel_texts = \
  %D%/bytes.kernel \
  %D%/elementwise.kernel \
  %D%/elementwise_f64.kernel \
  %D%/histogram.kernel \
  %D%/matmul.kernel \
  %D%/random.kernel \
  %D%/reduce.kernel
kernelsdir = $(pkgdatadir)/kernels
kernels_DATA = $(kernel_texts)
CLEANFILES += $(kernel_texts)
SUFFIXES += .kernel
.c.kernel:
	$(AM_V_GEN)$(MKDIR_P) %D% && $(AWK) -v include=$(top_srcdir)/include \
	  -f $(top_srcdir)/build-aux/flatten.awk $< > $@.tmp && mv $@.tmp $@
$(kernel_texts): build-aux/flatten.awk include/tenon/kernel_lang.h \
  include/tenon/kernel_math.h $(kernel_headers)
