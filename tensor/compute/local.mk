libtenon_tensor_la_SOURCES += \
  %D%/elementwise.c \
  %D%/elementwise.h \
  %D%/layout.c \
  %D%/layout.h
