libtenon_la_SOURCES += \
  %D%/capture.c \
  %D%/dump.c \
  %D%/graph.c \
  %D%/graph.h \
  %D%/lane.c \
  %D%/lowering.c \
  %D%/lowering.h \
  %D%/node.c \
  %D%/node.h \
  %D%/replay.c
