backend_LTLIBRARIES += %D%/tenon-cpu.la
backend_path += $(abs_top_builddir)/%D%/$(LT_OBJDIR)

%C%_tenon_cpu_la_SOURCES = \
  %D%/alloc.c %D%/alloc.h \
  %D%/build.c %D%/build.h \
  %D%/bulk.c %D%/bulk.h \
  %D%/chaos.c %D%/chaos.h \
  %D%/chaos_tables.c \
  %D%/compilation.c %D%/compilation.h \
  %D%/compiler.c %D%/compiler.h \
  %D%/control_word.h \
  %D%/copy.c %D%/copy.h \
  %D%/device.c %D%/device.h \
  %D%/entry.c \
  %D%/event.c %D%/event.h \
  %D%/fma.c %D%/fma.h \
  %D%/graph.c %D%/graph.h \
  %D%/graph_run.c %D%/graph_run.h \
  %D%/host.h \
  %D%/image.c %D%/image.h \
  %D%/language_text.h \
  %D%/launch.c %D%/launch.h \
  %D%/level.c %D%/level.h \
  %D%/machine.c %D%/machine.h \
  %D%/module.c %D%/module.h \
  %D%/park.c %D%/park.h \
  %D%/quarantine.c %D%/quarantine.h \
  %D%/queue.c %D%/queue.h \
  %D%/recording.c %D%/recording.h \
  %D%/settings.c %D%/settings.h \
  %D%/stream.c %D%/stream.h \
  %D%/workers.c %D%/workers.h
nodist_%C%_tenon_cpu_la_SOURCES = %D%/language_text.c
%C%_tenon_cpu_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE \
  $(cpu_levels_cppflags) -DTN_CPU_VERSION='"$(PACKAGE_VERSION)"'
%C%_tenon_cpu_la_LDFLAGS = $(backend_ldflags)
%C%_tenon_cpu_la_LIBADD = $(kernel_libraries)

if CPU_LEVELS
cpu_levels_cppflags = -DTN_CPU_HAS_LEVELS
else
cpu_levels_cppflags =
endif

# A text as a C string.
cpu_quote = sed 's/[\\"]/\\&/g; s/^/  "/; s/$$/\\n"/'
%D%/language_text.c: include/tenon/kernel_lang.h \
  include/tenon/kernel_math.h include/tenon/kernel_math_f64.h
	$(AM_V_GEN)$(MKDIR_P) %D% && { \
	  echo '#include "backends/cpu/language_text.h"'; \
	  for name in lang math math_f64; do \
	    echo "const char tn_cpu_kernel_$${name}_text[] ="; \
	    $(cpu_quote) $(top_srcdir)/include/tenon/kernel_$$name.h; \
	    echo '  ;'; \
	  done; \
	  echo 'const char tn_cpu_language_sum[] ='; \
	  cat $(top_srcdir)/include/tenon/kernel_lang.h \
	    $(top_srcdir)/include/tenon/kernel_math.h \
	    $(top_srcdir)/include/tenon/kernel_math_f64.h | cksum | $(cpu_quote); \
	  echo '  ;'; } > $@.tmp && mv $@.tmp $@

CLEANFILES += %D%/language_text.c
