# The built-in kernels against the reference.
noinst_HEADERS += %D%/cases.h %D%/images.h %D%/survey.h %D%/trial.h \
  tests/numbers_layers.h tests/numbers_reference.h tests/numbers_rows.h
noinst_HEADERS += %D%/attention_cases_real.h \
  tests/numbers_attention_real.h tests/numbers_attention.h tests/numbers_products.h
noinst_HEADERS += tests/numbers_optim.h
noinst_HEADERS += %D%/layout.h tests/numbers_functions.h
EXTRA_DIST += tests/numbers_golden.txt

# A library, so that the convenience libraries are linked as a whole.
check_LTLIBRARIES += %D%/libimages.la
%C%_libimages_la_SOURCES = %D%/images.c
%C%_libimages_la_LIBADD = $(kernel_libraries) -lm
%C%_libimages_la_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere -avoid-version
%C%_libimages_la_CPPFLAGS = $(AM_CPPFLAGS)
if CPU_LEVELS
%C%_libimages_la_CPPFLAGS += -DTN_CPU_LEVELS
endif

# Trials and reference, compiled as exactly as the kernels.
check_LTLIBRARIES += %D%/libtrials.la
%C%_libtrials_la_SOURCES = tests/numbers_functions.c tests/numbers_layers.c \
  tests/numbers_reference.c tests/numbers_rows.c tests/tap.c \
  %D%/bytes_cases.c %D%/cases.c %D%/cumsum_cases.c \
  %D%/elementwise_cases.c %D%/loss_cases.c \
  %D%/matmul_cases.c %D%/random_cases.c %D%/reduce_cases.c \
  %D%/reduce_types_cases.c %D%/row_cases.c %D%/survey.c \
  %D%/trial.c
%C%_libtrials_la_SOURCES += %D%/layout.c %D%/typed_cases.c
%C%_libtrials_la_SOURCES += tests/numbers_attention.c \
  tests/numbers_products.c %D%/attention_cases.c %D%/attention_f64_cases.c \
  tests/numbers_attention_f64.c %D%/indexing_cases.c \
  %D%/product_cases.c
%C%_libtrials_la_SOURCES += tests/numbers_optim.c %D%/optim_cases.c
%C%_libtrials_la_CFLAGS = $(AM_CFLAGS) -O2 -ffp-contract=off

check_PROGRAMS += %D%/on_cpu
%C%_on_cpu_SOURCES = %D%/on_cpu.c
%C%_on_cpu_LDADD = %D%/libtrials.la %D%/libimages.la -lm

check_PROGRAMS += %D%/math
%C%_math_SOURCES = %D%/math.c tests/tap.c
%C%_math_LDADD = %D%/libimages.la -lm

check_PROGRAMS += %D%/math_f64
%C%_math_f64_SOURCES = %D%/math_f64.c
%C%_math_f64_LDADD = %D%/libtrials.la %D%/libimages.la -lm

dist_check_SCRIPTS += %D%/headers.sh %D%/texts.sh

# Records what the kernels give now.
golden: %D%/on_cpu$(EXEEXT)
	%D%/on_cpu --print > $(top_srcdir)/tests/numbers_golden.txt
.PHONY: golden

# The same trials through the library, on any device.
check_PROGRAMS += %D%/on_device
%C%_on_device_SOURCES = %D%/on_device.c
%C%_on_device_LDADD = %D%/libtrials.la $(tests_ldadd) -lm
device_tests += %D%/on_device
