bin_PROGRAMS += %D%/tenon
%C%_tenon_SOURCES = \
  %D%/candidate.c %D%/candidate.h \
  %D%/child.c %D%/child.h \
  %D%/command.h \
  %D%/devices.c \
  %D%/doctor.c \
  %D%/facility.c %D%/facility.h \
  %D%/json.c %D%/json.h \
  %D%/survey.c %D%/survey.h \
  %D%/tenon.c \
  %D%/version.c
%C%_tenon_LDADD = libtenon.la
