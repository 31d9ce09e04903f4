# Plugins that only the tests use; never installed.
test_plugin_ldflags = $(backend_ldflags) -rpath /nowhere

# The rehearsal backend: see remote/remote.h.
check_LTLIBRARIES += %D%/remote/tenon-remote.la
%C%_remote_tenon_remote_la_SOURCES = \
  %D%/remote/copy.c \
  %D%/remote/entry.c \
  %D%/remote/image.c \
  %D%/remote/launch.c \
  %D%/remote/memory.c \
  %D%/remote/module.h \
  %D%/remote/point.c \
  %D%/remote/queue.c \
  %D%/remote/remote.h \
  %D%/remote/rules.c \
  %D%/remote/stream.c
%C%_remote_tenon_remote_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
%C%_remote_tenon_remote_la_LDFLAGS = $(test_plugin_ldflags)
backend_path += $(abs_top_builddir)/%D%/remote/$(LT_OBJDIR)

check_PROGRAMS += tests/remote
tests_remote_SOURCES = tests/remote.c tests/tap.c
