# Tests of core/exec, core/memory, core/copy and core/launch.
noinst_HEADERS += %D%/manual_device.h %D%/plugins/manual.h
manual_test = %D%/manual_device.c %D%/tap.c

# Exports its controls beside its entry; out of the search path of others.
check_LTLIBRARIES += %D%/plugins/manual/tenon-manual.la
%C%_plugins_manual_tenon_manual_la_SOURCES = %D%/plugins/manual.c
%C%_plugins_manual_tenon_manual_la_LDFLAGS = $(AM_LDFLAGS) -module \
  -avoid-version -shared -rpath /nowhere

check_PROGRAMS += %D%/stream_order
%C%_stream_order_SOURCES = %D%/stream_order.c $(manual_test)
%C%_stream_order_LDADD = $(tests_ldadd) -lm
check_PROGRAMS += %D%/record_stream
%C%_record_stream_SOURCES = %D%/record_stream.c $(manual_test)
%C%_record_stream_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/allocator
%C%_allocator_SOURCES = %D%/allocator.c $(manual_test)
%C%_allocator_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/staged_copy
%C%_staged_copy_SOURCES = %D%/staged_copy.c $(manual_test)
%C%_staged_copy_LDADD = $(tests_ldadd)

# On any device.
noinst_HEADERS += %D%/test_device.h
device_test = %D%/test_device.c %D%/tap.c
check_PROGRAMS += %D%/copy
%C%_copy_SOURCES = %D%/copy.c $(device_test)
%C%_copy_LDADD = $(tests_ldadd)
device_tests += %D%/copy
check_PROGRAMS += %D%/fill
%C%_fill_SOURCES = %D%/fill.c $(device_test)
%C%_fill_LDADD = $(tests_ldadd)
device_tests += %D%/fill
check_PROGRAMS += %D%/stream_guard
%C%_stream_guard_SOURCES = %D%/stream_guard.c $(device_test)
%C%_stream_guard_LDADD = $(tests_ldadd)
device_tests += %D%/stream_guard
check_PROGRAMS += %D%/memory
%C%_memory_SOURCES = %D%/memory.c $(device_test)
%C%_memory_LDADD = $(tests_ldadd)
device_tests += %D%/memory
check_PROGRAMS += %D%/pinned_traffic
%C%_pinned_traffic_SOURCES = %D%/pinned_traffic.c $(device_test)
%C%_pinned_traffic_LDADD = $(tests_ldadd)
device_tests += %D%/pinned_traffic
check_PROGRAMS += %D%/stream
%C%_stream_SOURCES = %D%/stream.c $(device_test)
%C%_stream_LDADD = $(tests_ldadd)
device_tests += %D%/stream
check_PROGRAMS += %D%/event
%C%_event_SOURCES = %D%/event.c $(device_test)
%C%_event_LDADD = $(tests_ldadd)
device_tests += %D%/event
check_PROGRAMS += %D%/kernel
%C%_kernel_SOURCES = %D%/kernel.c $(device_test)
%C%_kernel_LDADD = $(tests_ldadd)
device_tests += %D%/kernel
check_PROGRAMS += %D%/native
%C%_native_SOURCES = %D%/native.c $(device_test)
%C%_native_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/argument
%C%_argument_SOURCES = %D%/argument.c $(manual_test)
%C%_argument_LDADD = $(tests_ldadd)
# Of the library's insides, which are not exported.
check_PROGRAMS += %D%/kernel_cache
%C%_kernel_cache_SOURCES = %D%/kernel_cache.c %D%/tap.c
%C%_kernel_cache_LDADD = $(libtenon_la_OBJECTS)
check_PROGRAMS += %D%/leaving
%C%_leaving_SOURCES = %D%/leaving.c $(device_test)
%C%_leaving_LDADD = $(tests_ldadd)
device_tests += %D%/leaving
check_PROGRAMS += %D%/fork_work
%C%_fork_work_SOURCES = %D%/fork_work.c $(device_test)
%C%_fork_work_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/crowd
%C%_crowd_SOURCES = %D%/crowd.c $(device_test)
%C%_crowd_LDADD = $(tests_ldadd)
device_tests += %D%/crowd
check_PROGRAMS += %D%/across
%C%_across_SOURCES = %D%/across.c $(manual_test)
%C%_across_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/copy_rows
%C%_copy_rows_SOURCES = %D%/copy_rows.c $(manual_test)
%C%_copy_rows_LDADD = $(libtenon_la_OBJECTS)
# Of core/memory.
check_PROGRAMS += %D%/alloc_conf
%C%_alloc_conf_SOURCES = %D%/alloc_conf.c $(manual_test)
%C%_alloc_conf_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/memory_pool
%C%_memory_pool_SOURCES = %D%/memory_pool.c $(manual_test)
%C%_memory_pool_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/out_of_memory
%C%_out_of_memory_SOURCES = %D%/out_of_memory.c $(manual_test)
%C%_out_of_memory_LDADD = $(libtenon_la_OBJECTS)
%C%_out_of_memory_LDFLAGS = $(AM_LDFLAGS) \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
failing_malloc = %D%/failing_malloc.c %D%/failing_malloc.h
failing_malloc_ldflags = \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=strdup \
  -Wl,--wrap=posix_memalign
check_PROGRAMS += %D%/host_memory
%C%_host_memory_SOURCES = %D%/host_memory.c %D%/host_memory_blocks.c \
  %D%/host_memory_graphs.c %D%/host_memory_names.c \
  %D%/host_memory_scenarios.c %D%/host_memory_scenarios.h \
  $(failing_malloc) %D%/tap.c
%C%_host_memory_LDADD = $(libtenon_la_OBJECTS)
%C%_host_memory_LDFLAGS = $(AM_LDFLAGS) $(failing_malloc_ldflags)
check_PROGRAMS += %D%/history
%C%_history_SOURCES = %D%/history.c $(manual_test)
%C%_history_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/snapshot
%C%_snapshot_SOURCES = %D%/snapshot.c $(manual_test)
%C%_snapshot_LDADD = $(libtenon_la_OBJECTS)
dist_check_SCRIPTS += %D%/snapshot_file.sh
check_PROGRAMS += %D%/graph_pool
%C%_graph_pool_SOURCES = %D%/graph_pool.c $(manual_test)
%C%_graph_pool_LDADD = $(libtenon_la_OBJECTS)

check_PROGRAMS += %D%/graph
%C%_graph_SOURCES = %D%/graph.c $(device_test)
%C%_graph_LDADD = $(tests_ldadd)
device_tests += %D%/graph
check_PROGRAMS += %D%/graph_memory
%C%_graph_memory_SOURCES = %D%/graph_memory.c $(device_test)
%C%_graph_memory_LDADD = $(tests_ldadd)
device_tests += %D%/graph_memory

check_PROGRAMS += %D%/graph_threads
%C%_graph_threads_SOURCES = %D%/graph_threads.c $(device_test)
%C%_graph_threads_LDADD = $(tests_ldadd)
device_tests += %D%/graph_threads

check_PROGRAMS += %D%/graph_path
%C%_graph_path_SOURCES = %D%/graph_path.c $(device_test)
%C%_graph_path_LDADD = $(tests_ldadd)
device_tests += %D%/graph_path
check_PROGRAMS += %D%/graph_shared
%C%_graph_shared_SOURCES = %D%/graph_shared.c $(device_test)
%C%_graph_shared_LDADD = $(tests_ldadd)
device_tests += %D%/graph_shared
check_PROGRAMS += %D%/graph_size
%C%_graph_size_SOURCES = %D%/graph_size.c $(device_test)
%C%_graph_size_LDADD = $(tests_ldadd)
device_tests += %D%/graph_size
check_PROGRAMS += %D%/graph_faults
%C%_graph_faults_SOURCES = %D%/graph_faults.c $(device_test)
%C%_graph_faults_LDADD = $(tests_ldadd)
check_PROGRAMS += %D%/graph_random
%C%_graph_random_SOURCES = %D%/graph_random.c $(device_test)
%C%_graph_random_LDADD = $(tests_ldadd)
device_tests += %D%/graph_random
check_PROGRAMS += %D%/graph_failure
%C%_graph_failure_SOURCES = %D%/graph_failure.c %D%/tap.c
%C%_graph_failure_LDADD = $(tests_ldadd)
dist_check_SCRIPTS += %D%/graph_table.sh
check_PROGRAMS += %D%/reproducible
%C%_reproducible_SOURCES = %D%/reproducible.c %D%/tap.c
%C%_reproducible_LDADD = $(tests_ldadd)
dist_check_SCRIPTS += %D%/tenon_memory.sh
