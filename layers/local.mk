# Layers: plugins around other plugins, chosen by TENON_LAYERS. Each is one
# module with its own copy of the forwarding backend.
layer_LTLIBRARIES += %D%/tenon-layer-fault.la %D%/tenon-layer-trace.la \
  %D%/tenon-layer-race.la
layer_path += $(abs_top_builddir)/%D%/$(LT_OBJDIR)

noinst_LTLIBRARIES += %D%/libforward.la
%C%_libforward_la_SOURCES = \
  %D%/forward.c %D%/forward.h \
  %D%/forward_alloc.c \
  %D%/forward_copy.c \
  %D%/forward_device.c \
  %D%/forward_graph.c \
  %D%/forward_launch.c \
  %D%/forward_math.c \
  %D%/forward_stream.c \
  %D%/forward_table.h \
  %D%/option.c %D%/option.h
%C%_libforward_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE

%C%_tenon_layer_fault_la_SOURCES = %D%/fault.c \
  %D%/fault_late.c %D%/fault_late.h
%C%_tenon_layer_fault_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
%C%_tenon_layer_fault_la_LDFLAGS = $(backend_ldflags)
%C%_tenon_layer_fault_la_LIBADD = %D%/libforward.la

%C%_tenon_layer_trace_la_SOURCES = \
  %D%/trace.c \
  %D%/trace_file.c %D%/trace_file.h \
  %D%/trace_run.c %D%/trace_run.h \
  %D%/trace_text.h
%C%_tenon_layer_trace_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
%C%_tenon_layer_trace_la_LDFLAGS = $(backend_ldflags)
%C%_tenon_layer_trace_la_LIBADD = %D%/libforward.la

%C%_tenon_layer_race_la_SOURCES = \
  %D%/order.c %D%/order.h \
  %D%/race.c \
  %D%/race_access.c %D%/race_access.h \
  %D%/race_clock.c %D%/race_clock.h \
  %D%/race_extent.c %D%/race_extent.h \
  %D%/race_memory.c %D%/race_memory.h \
  %D%/race_own.c \
  %D%/race_pinned.c %D%/race_pinned.h \
  %D%/race_report.c %D%/race_report.h \
  %D%/race_site.c %D%/race_site.h \
  %D%/race_watch.c %D%/race_watch.h
%C%_tenon_layer_race_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
%C%_tenon_layer_race_la_LDFLAGS = $(backend_ldflags)
%C%_tenon_layer_race_la_LIBADD = %D%/libforward.la
