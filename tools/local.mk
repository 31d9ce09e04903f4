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
  %D%/survey.c %D%/survey.h \
  %D%/tenon.c \
  %D%/version.c
%C%_tenon_LDADD = conformance/libconformance.la libtenon.la
