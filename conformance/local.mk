noinst_LTLIBRARIES += %D%/libconformance.la
%C%_libconformance_la_SOURCES = \
  %D%/arithmetic.c \
  %D%/backward.c \
  %D%/backward_streams.c \
  %D%/callables.c \
  %D%/captures.c \
  %D%/check.c %D%/check.h \
  %D%/copies.c \
  %D%/delay.c \
  %D%/devices.c \
  %D%/events.c \
  %D%/exits.c \
  %D%/failures.c \
  %D%/graph_memory.c \
  %D%/graph_random.c \
  %D%/graphs.c %D%/graphs.h \
  %D%/kernels.c \
  %D%/launches.c \
  %D%/memory.c \
  %D%/numbers.c \
  %D%/overlaps.c \
  %D%/pinned.c \
  %D%/placement.c \
  %D%/replays.c \
  %D%/streams.c \
  %D%/suite.c %D%/suite.h \
  %D%/tensors.c \
  %D%/values.c %D%/values.h
