libtenon_tensor_la_SOURCES += \
  %D%/callable.c \
  %D%/graphed.c \
  %D%/graphed.h \
  %D%/make.c
