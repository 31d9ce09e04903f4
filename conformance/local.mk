noinst_LTLIBRARIES += %D%/libconformance.la
%C%_libconformance_la_SOURCES = \
  %D%/check.c %D%/check.h \
  %D%/copies.c \
  %D%/devices.c \
  %D%/events.c \
  %D%/exits.c \
  %D%/failures.c \
  %D%/graphs.c \
  %D%/kernels.c \
  %D%/launches.c \
  %D%/memory.c \
  %D%/overlaps.c \
  %D%/pinned.c \
  %D%/streams.c \
  %D%/suite.c %D%/suite.h
