libtenon_tensor_la_SOURCES += \
  %D%/factory.c \
  %D%/factory.h \
  %D%/placement.c \
  %D%/placement.h \
  %D%/print.c \
  %D%/read.c
