libtenon_la_SOURCES += \
  %D%/capture.c \
  %D%/dump.c \
  %D%/facts.c \
  %D%/fork.c \
  %D%/graph.c \
  %D%/graph.h \
  %D%/lane.c \
  %D%/lowering.c \
  %D%/lowering.h \
  %D%/native_capture.c \
  %D%/native_capture.h \
  %D%/node.c \
  %D%/node.h \
  %D%/replay.c
