libtenon_tensor_la_SOURCES += \
  %D%/cumsum.c \
  %D%/dims.c \
  %D%/dropout.c \
  %D%/expand.c \
  %D%/factory.c \
  %D%/factory.h \
  %D%/layer_norm.c \
  %D%/loss.c \
  %D%/part.c \
  %D%/placement.c \
  %D%/placement.h \
  %D%/print.c \
  %D%/random.c \
  %D%/read.c \
  %D%/reduce.c \
  %D%/reduction.c \
  %D%/reduction.h \
  %D%/row_dim.c \
  %D%/row_dim.h \
  %D%/softmax.c \
  %D%/statistics.c \
  %D%/view.c \
  %D%/view.h
