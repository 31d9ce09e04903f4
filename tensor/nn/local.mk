libtenon_tensor_la_SOURCES += \
  %D%/adam.c \
  %D%/init.c \
  %D%/init.h \
  %D%/layers.c \
  %D%/module.c \
  %D%/module.h \
  %D%/move.c \
  %D%/optim.c \
  %D%/optim.h \
  %D%/optim_capture.c \
  %D%/optim_capture.h \
  %D%/optim_pack.c \
  %D%/optim_pack.h \
  %D%/parameters.c \
  %D%/sgd.c \
  %D%/walk.h
