# Tests of core/device, with plugins made for them.
noinst_HEADERS += %D%/plugin_folder.h
plugin_test = %D%/plugin_folder.c %D%/tap.c

check_PROGRAMS += %D%/device_guard
%C%_device_guard_SOURCES = %D%/device_guard.c $(plugin_test)
%C%_device_guard_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/device_string
%C%_device_string_SOURCES = %D%/device_string.c $(plugin_test)
%C%_device_string_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/visibility
%C%_visibility_SOURCES = %D%/visibility.c $(plugin_test)
%C%_visibility_LDADD = $(tests_ldadd)
