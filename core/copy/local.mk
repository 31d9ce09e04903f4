libtenon_la_SOURCES += \
  %D%/copy.c \
  %D%/copy_job.h \
  %D%/copy_queue.c \
  %D%/copy_run.c \
  %D%/device_copy.c \
  %D%/fill.c \
  %D%/fill.h \
  %D%/host_copy.c \
  %D%/peer_path.c \
  %D%/peer_path.h \
  %D%/peer_pattern.c \
  %D%/peer_pattern.h \
  %D%/staged_copy.c
