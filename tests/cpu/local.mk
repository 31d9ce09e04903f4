# The cpu plugin by itself, without libtenon.
noinst_HEADERS += %D%/host.h
check_PROGRAMS += %D%/chaos %D%/compile %D%/copy %D%/device %D%/fork \
  %D%/graph %D%/launch %D%/machine %D%/memory %D%/stream %D%/workers
cpu_tests_sources = %D%/host.c tests/tap.c
%C%_chaos_SOURCES = %D%/chaos.c $(cpu_tests_sources) backends/cpu/chaos.c
%C%_compile_SOURCES = %D%/compile.c $(cpu_tests_sources)
%C%_copy_SOURCES = %D%/copy.c $(cpu_tests_sources)
%C%_device_SOURCES = %D%/device.c $(cpu_tests_sources)
%C%_fork_SOURCES = %D%/fork.c $(cpu_tests_sources)
%C%_graph_SOURCES = %D%/graph.c $(cpu_tests_sources)
%C%_launch_SOURCES = %D%/launch.c $(cpu_tests_sources)
# The compiler is not to move additions across changes of rounding.
%C%_launch_CFLAGS = $(AM_CFLAGS) -frounding-math
%C%_machine_SOURCES = %D%/machine.c tests/tap.c backends/cpu/machine.c
%C%_memory_SOURCES = %D%/memory.c $(cpu_tests_sources)
%C%_stream_SOURCES = %D%/stream.c $(cpu_tests_sources)
%C%_workers_SOURCES = %D%/workers.c $(cpu_tests_sources)
%C%_chaos_CPPFLAGS = $(cpu_tests_cppflags)
%C%_compile_CPPFLAGS = $(cpu_tests_cppflags)
%C%_copy_CPPFLAGS = $(cpu_tests_cppflags)
%C%_device_CPPFLAGS = $(cpu_tests_cppflags)
%C%_fork_CPPFLAGS = $(cpu_tests_cppflags)
%C%_graph_CPPFLAGS = $(cpu_tests_cppflags)
%C%_launch_CPPFLAGS = $(cpu_tests_cppflags)
%C%_machine_CPPFLAGS = $(cpu_tests_cppflags)
%C%_memory_CPPFLAGS = $(cpu_tests_cppflags)
%C%_stream_CPPFLAGS = $(cpu_tests_cppflags)
%C%_workers_CPPFLAGS = $(cpu_tests_cppflags)
cpu_tests_cppflags = $(AM_CPPFLAGS) -D_GNU_SOURCE
%C%_launch_LDADD = -lm
