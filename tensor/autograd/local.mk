libtenon_tensor_la_SOURCES += \
  %D%/grad_mode.c \
  %D%/history.h \
  %D%/leaf.c \
  %D%/node.h
