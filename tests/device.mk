# Tests of core/device, with plugins made for them.
noinst_HEADERS += %D%/plugin_folder.h
plugin_test = %D%/plugin_folder.c %D%/tap.c

check_PROGRAMS += %D%/candidates
%C%_candidates_SOURCES = %D%/candidates.c $(plugin_test)
%C%_candidates_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/default_device
%C%_default_device_SOURCES = %D%/default_device.c $(plugin_test)
%C%_default_device_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/device_facts
%C%_device_facts_SOURCES = %D%/device_facts.c $(plugin_test)
%C%_device_facts_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/device_guard
%C%_device_guard_SOURCES = %D%/device_guard.c $(plugin_test)
%C%_device_guard_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/device_race
%C%_device_race_SOURCES = %D%/device_race.c $(plugin_test)
%C%_device_race_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/device_string
%C%_device_string_SOURCES = %D%/device_string.c $(plugin_test)
%C%_device_string_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/fork
%C%_fork_SOURCES = %D%/fork.c $(plugin_test)
%C%_fork_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/loader
%C%_loader_SOURCES = %D%/loader.c $(plugin_test)
%C%_loader_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/log
%C%_log_SOURCES = %D%/log.c $(plugin_test)
%C%_log_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/moved_tree
%C%_moved_tree_SOURCES = %D%/moved_tree.c $(plugin_test)
%C%_moved_tree_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/shutdown
%C%_shutdown_SOURCES = %D%/shutdown.c $(plugin_test)
%C%_shutdown_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/synchronous_stream
%C%_synchronous_stream_SOURCES = %D%/synchronous_stream.c $(plugin_test)
%C%_synchronous_stream_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/visibility
%C%_visibility_SOURCES = %D%/visibility.c $(plugin_test)
%C%_visibility_LDADD = $(tests_ldadd)

check_PROGRAMS += %D%/error_text
%C%_error_text_SOURCES = %D%/error_text.c %D%/tap.c
%C%_error_text_LDADD = $(tests_ldadd)

# Run as another user's program, which finds the library by its run path.
check_PROGRAMS += %D%/privilege
%C%_privilege_SOURCES = %D%/privilege.c $(plugin_test)
%C%_privilege_LDADD = $(tests_ldadd)
%C%_privilege_LDFLAGS = $(AM_LDFLAGS) -no-install
