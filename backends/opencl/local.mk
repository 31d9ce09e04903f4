opencl_embed = $(top_srcdir)/%D%/embed.awk
EXTRA_DIST += %D%/embed.awk

if OPENCL
backend_LTLIBRARIES += %D%/tenon-opencl.la
backend_path += $(abs_top_builddir)/%D%/$(LT_OBJDIR)
endif

%C%_tenon_opencl_la_SOURCES = \
  %D%/alloc.c \
  %D%/alloc.h \
  %D%/backend.c \
  %D%/copy.c \
  %D%/copy.h \
  %D%/describe.c \
  %D%/device.c \
  %D%/device.h \
  %D%/embedded.h \
  %D%/error.c \
  %D%/error.h \
  %D%/event.c \
  %D%/launch.c \
  backends/listing/child.c \
  backends/listing/child.h \
  %D%/loader.c \
  %D%/loader.h \
  %D%/module.c \
  %D%/module.h \
  %D%/program.c \
  %D%/program.h \
  %D%/range.c \
  %D%/range.h \
  %D%/signature.c \
  %D%/signature.h \
  %D%/source.c \
  %D%/source.h \
  %D%/stream.c \
  %D%/stream.h \
  %D%/survey.c
nodist_%C%_tenon_opencl_la_SOURCES = %D%/embedded.c
%C%_tenon_opencl_la_LDFLAGS = $(backend_ldflags)

# The built-in kernels and the kernel language as text in the plugin.
CLEANFILES += %D%/embedded.c
%D%/embedded.c: $(kernel_texts) $(opencl_embed)
	$(AM_V_GEN)$(MKDIR_P) %D% && { \
	  echo '/* Generated from kernels/ by backends/opencl/local.mk. */'; \
	  echo '#include "backends/opencl/embedded.h"'; \
	  for part in "" _f64; do \
	    $(AWK) -v include=$(top_srcdir)/include \
	      -f $(top_srcdir)/build-aux/flatten.awk \
	      $(top_srcdir)/include/tenon/kernel_math$$part.h | \
	      $(AWK) -v name=text_of_language$$part -f $(opencl_embed); \
	  done; \
	  table=; \
	  for text in $(kernel_texts); do \
	    name=`basename $$text .kernel`; \
	    $(AWK) -v name=text_of_$$name -f $(opencl_embed) $$text; \
	    table="$$table  { \"$$name\", text_of_$$name,"; \
	    table="$$table sizeof text_of_$$name - 1 },"; \
	  done; \
	  for part in "" _f64; do \
	    echo "const tn_opencl_family tn_opencl_language$$part = {"; \
	    echo "  \"language$$part\", text_of_language$$part,"; \
	    echo "  sizeof text_of_language$$part - 1"; \
	    echo '};'; \
	  done; \
	  echo 'const tn_opencl_family tn_opencl_families[] = {'; \
	  echo "$$table"; \
	  echo '  { 0, 0, 0 }'; \
	  echo '};'; } > $@.tmp && mv $@.tmp $@
