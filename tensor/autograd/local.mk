libtenon_tensor_la_SOURCES += \
  %D%/backward.c \
  %D%/fit.c \
  %D%/fit.h \
  %D%/frontier.c \
  %D%/frontier.h \
  %D%/function.c \
  %D%/grad_mode.c \
  %D%/graph.h \
  %D%/history.c \
  %D%/history.h \
  %D%/inplace.c \
  %D%/leaf.c \
  %D%/leaf.h \
  %D%/leaves.c \
  %D%/leaves.h \
  %D%/node.c \
  %D%/node.h \
  %D%/pass.c \
  %D%/pass.h \
  %D%/saved.c \
  %D%/slices.c \
  %D%/slices.h \
  %D%/strided.c \
  %D%/strided.h \
  %D%/wanted.c \
  %D%/wanted.h
