libtenon_tensor_la_SOURCES += \
  %D%/attention.c \
  %D%/attention.h \
  %D%/contiguous.c \
  %D%/contiguous.h \
  %D%/convert.c \
  %D%/convert.h \
  %D%/elementwise.c \
  %D%/elementwise.h \
  %D%/indexing.c \
  %D%/indexing.h \
  %D%/layout.c \
  %D%/layout.h \
  %D%/number.c \
  %D%/number.h \
  %D%/product.c \
  %D%/product.h \
  %D%/random.c \
  %D%/random.h \
  %D%/reduce.c \
  %D%/reduce.h \
  %D%/rows.c \
  %D%/rows.h \
  %D%/scatter.c \
  %D%/strided.c \
  %D%/strided.h
