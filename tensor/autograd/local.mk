libtenon_tensor_la_SOURCES += \
  %D%/fit.c \
  %D%/fit.h \
  %D%/grad_mode.c \
  %D%/graph.h \
  %D%/history.c \
  %D%/history.h \
  %D%/inplace.c \
  %D%/leaf.c \
  %D%/node.c \
  %D%/node.h \
  %D%/saved.c \
  %D%/slices.c \
  %D%/slices.h \
  %D%/strided.c \
  %D%/strided.h
