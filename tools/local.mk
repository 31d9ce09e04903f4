bin_PROGRAMS += %D%/tenon
%C%_tenon_SOURCES = \
  %D%/candidate.c %D%/candidate.h \
  %D%/child.c %D%/child.h \
  %D%/command.h \
  %D%/conform.c %D%/conform.h \
  %D%/conform_known.c \
  %D%/conform_process.c \
  %D%/conform_report.c \
  %D%/devices.c \
  %D%/doctor.c \
  %D%/facility.c %D%/facility.h \
  %D%/json.c %D%/json.h \
  %D%/json_read.c %D%/json_read.h \
  %D%/memory.c \
  %D%/memory_file.c %D%/memory_file.h \
  %D%/memory_view.c %D%/memory_view.h \
  %D%/new_backend.c \
  %D%/project.h \
  %D%/survey.c %D%/survey.h \
  %D%/tenon.c \
  %D%/version.c
%C%_tenon_LDADD = conformance/libconformance.la libtenon-tensor.la libtenon.la \
  -lm
nodist_%C%_tenon_SOURCES = %D%/project.c

# What tenon new-backend writes.
tools_project = \
  backends/template/project/configure.ac \
  backends/template/project/Makefile.am \
  backends/template/project/README.md \
  backends/template/project/conform.sh
EXTRA_DIST += $(tools_project)
%D%/project.c: backends/template/template.c $(tools_project)
	$(AM_V_GEN)$(MKDIR_P) %D% && { \
	  echo '#include "tools/project.h"'; \
	  echo 'const tn_project_file tn_project_files[] = {'; \
	  echo '  { "@''NAME@.c",'; \
	  sed 's/[Tt]emplate/@''NAME@/g' \
	    $(top_srcdir)/backends/template/template.c | $(cpu_quote); \
	  echo '  },'; \
	  for file in $(tools_project); do \
	    echo "  { \"$${file##*/}\","; \
	    $(cpu_quote) $(top_srcdir)/$$file; \
	    echo '  },'; \
	  done; \
	  echo '  { 0, 0 }'; \
	  echo '};'; } > $@.tmp && mv $@.tmp $@
CLEANFILES += %D%/project.c
