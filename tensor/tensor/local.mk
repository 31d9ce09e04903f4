libtenon_tensor_la_SOURCES += \
  %D%/dtype.c \
  %D%/dtype.h \
  %D%/generator.c \
  %D%/generator.h \
  %D%/place.c \
  %D%/place.h \
  %D%/random_source.c \
  %D%/random_source.h \
  %D%/refcount.h \
  %D%/scope.c \
  %D%/scope.h \
  %D%/shape.c \
  %D%/shape.h \
  %D%/tensor.c \
  %D%/tensor.h
