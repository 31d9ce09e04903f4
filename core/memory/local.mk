libtenon_la_SOURCES += \
  %D%/address_table.c \
  %D%/address_table.h \
  %D%/allocator.c \
  %D%/allocator.h \
  %D%/block.h \
  %D%/finish.c \
  %D%/finish.h \
  %D%/free_list.c \
  %D%/free_list.h \
  %D%/memory.c \
  %D%/pending.c \
  %D%/pinned.c \
  %D%/pinned.h \
  %D%/segment.c \
  %D%/statistics.c \
  %D%/statistics.h \
  %D%/uses.c \
  %D%/uses.h
