libtenon_la_SOURCES += \
  %D%/builtin.c \
  %D%/builtin.h \
  %D%/cache.c \
  %D%/cache.h \
  %D%/cache_folder.c \
  %D%/cache_folder.h \
  %D%/defines.c \
  %D%/defines.h \
  %D%/ffi_library.c \
  %D%/ffi_library.h \
  %D%/finish.c \
  %D%/finish.h \
  %D%/hash.c \
  %D%/hash.h \
  %D%/launch.c \
  %D%/launcher.c \
  %D%/mirror.c \
  %D%/mirror.h \
  %D%/module.c \
  %D%/module.h \
  %D%/native.c \
  %D%/reproducible.c \
  %D%/runner.c \
  %D%/signature.c \
  %D%/signature.h
