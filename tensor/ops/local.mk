libtenon_tensor_la_SOURCES += \
  %D%/factory.c \
  %D%/factory.h \
  %D%/read.c
