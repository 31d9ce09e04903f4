# Plugins that only the tests use; never installed.
test_plugin_ldflags = $(backend_ldflags) -rpath /nowhere

# The rehearsal backend: see remote/remote.h. It computes with the cpu
# backend's kernels and compiler, at the baseline level only.
check_LTLIBRARIES += %D%/remote/tenon-remote.la
%C%_remote_tenon_remote_la_SOURCES = \
  %D%/remote/copy.c \
  %D%/remote/entry.c \
  %D%/remote/graph.c \
  %D%/remote/image.c \
  %D%/remote/launch.c \
  %D%/remote/memory.c \
  %D%/remote/module.h \
  %D%/remote/point.c \
  %D%/remote/queue.c \
  %D%/remote/remote.h \
  %D%/remote/rules.c \
  %D%/remote/stream.c \
  backends/cpu/build.c \
  backends/cpu/compilation.c \
  backends/cpu/compiler.c \
  backends/cpu/image.c \
  backends/cpu/level.c
nodist_%C%_remote_tenon_remote_la_SOURCES = backends/cpu/language_text.c
%C%_remote_tenon_remote_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE \
  -DTN_CPU_VERSION='"$(PACKAGE_VERSION)"'
%C%_remote_tenon_remote_la_LDFLAGS = $(test_plugin_ldflags)
%C%_remote_tenon_remote_la_LIBADD = kernels/libbaseline.la -lm
test_backend_path += $(abs_top_builddir)/%D%/remote/$(LT_OBJDIR)

check_PROGRAMS += tests/remote
tests_remote_SOURCES = tests/remote.c tests/tap.c
check_PROGRAMS += tests/queued_failure
tests_queued_failure_SOURCES = tests/queued_failure.c tests/tap.c
tests_queued_failure_LDADD = $(tests_ldadd)
check_PROGRAMS += tests/queue_chaos
tests_queue_chaos_SOURCES = tests/queue_chaos.c tests/tap.c
tests_queue_chaos_LDADD = $(tests_ldadd)
device_tests += tests/queue_chaos

# Breaks one promise of the interface, or none: see liar/liar.h.
check_LTLIBRARIES += %D%/liar/tenon-liar.la
%C%_liar_tenon_liar_la_SOURCES = \
  %D%/liar/capture.c \
  %D%/liar/copy.c \
  %D%/liar/device.c \
  %D%/liar/entry.c \
  %D%/liar/graph.c \
  %D%/liar/launch.c \
  %D%/liar/liar.h \
  %D%/liar/memory.c \
  %D%/liar/point.c \
  %D%/liar/stream.c \
  %D%/liar/update.c
%C%_liar_tenon_liar_la_LDFLAGS = $(test_plugin_ldflags)

# Lets entries fail on demand; exports its control beside its entry.
noinst_HEADERS += %D%/failing.h
check_LTLIBRARIES += %D%/failing/tenon-failing.la
%C%_failing_tenon_failing_la_SOURCES = %D%/failing.c
%C%_failing_tenon_failing_la_LDFLAGS = $(AM_LDFLAGS) -module \
  -avoid-version -shared -rpath /nowhere
check_PROGRAMS += tests/failing_entries
tests_failing_entries_SOURCES = tests/failing_entries.c tests/tap.c
tests_failing_entries_LDADD = $(tests_ldadd)

# Plugins that go wrong, out of the search path of other tests.
check_LTLIBRARIES += %D%/crash/tenon-crash.la %D%/crash/tenon-hang.la \
  %D%/crash/tenon-leave.la %D%/crash/tenon-late.la
%C%_crash_tenon_crash_la_SOURCES = %D%/crash.c
%C%_crash_tenon_crash_la_CPPFLAGS = $(AM_CPPFLAGS) -DTN_CRASH=ABORT
%C%_crash_tenon_crash_la_LDFLAGS = $(test_plugin_ldflags)
%C%_crash_tenon_hang_la_SOURCES = %D%/crash.c
%C%_crash_tenon_hang_la_CPPFLAGS = $(AM_CPPFLAGS) -DTN_CRASH=HANG
%C%_crash_tenon_hang_la_LDFLAGS = $(test_plugin_ldflags)
%C%_crash_tenon_leave_la_SOURCES = %D%/crash.c
%C%_crash_tenon_leave_la_CPPFLAGS = $(AM_CPPFLAGS) -DTN_CRASH=LEAVE
%C%_crash_tenon_leave_la_LDFLAGS = $(test_plugin_ldflags)
%C%_crash_tenon_late_la_SOURCES = %D%/crash.c
%C%_crash_tenon_late_la_CPPFLAGS = $(AM_CPPFLAGS) -DTN_CRASH=LATE
%C%_crash_tenon_late_la_LDFLAGS = $(test_plugin_ldflags)

# Copied under other names by the tests that use them: tests/plugin_folder.h.
check_LTLIBRARIES += %D%/tenon-fake.la %D%/tenon-bad.la %D%/tenon-needs.la \
  %D%/libvendor.la %D%/libempty.la
%C%_tenon_fake_la_SOURCES = %D%/fake.c
%C%_tenon_fake_la_LDFLAGS = $(test_plugin_ldflags)
%C%_tenon_bad_la_SOURCES = %D%/bad.c
%C%_tenon_bad_la_LDFLAGS = $(test_plugin_ldflags)
%C%_libempty_la_SOURCES = %D%/empty.c
%C%_libempty_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
  -rpath /nowhere
check_LTLIBRARIES += %D%/libguest.la
%C%_libguest_la_SOURCES = %D%/guest.c
%C%_libguest_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
  -rpath /nowhere
%C%_libguest_la_LIBADD = libtenon.la
# Linked by file, so that no run path leads to it, and then not found.
%C%_libvendor_la_SOURCES = %D%/vendor.c
%C%_libvendor_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version -shared \
  -rpath /nowhere
%C%_tenon_needs_la_SOURCES = %D%/needs.c
%C%_tenon_needs_la_LDFLAGS = $(test_plugin_ldflags) \
  -Wl,%D%/$(LT_OBJDIR)/libvendor.so
EXTRA_%C%_tenon_needs_la_DEPENDENCIES = %D%/libvendor.la
