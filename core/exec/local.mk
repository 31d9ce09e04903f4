libtenon_la_SOURCES += \
  %D%/capture.h \
  %D%/current_stream.c \
  %D%/event.c \
  %D%/event.h \
  %D%/finish.c \
  %D%/finish.h \
  %D%/moment.c \
  %D%/moment.h \
  %D%/presence.c \
  %D%/presence.h \
  %D%/stream.c \
  %D%/stream.h \
  %D%/stream_pool.c \
  %D%/stream_pool.h \
  %D%/synchronize.c \
  %D%/tag.c \
  %D%/tag.h \
  %D%/wait.c
