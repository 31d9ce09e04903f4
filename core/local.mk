lib_LTLIBRARIES += libtenon.la

libtenon_la_SOURCES = \
  %D%/base/brief_lock.c \
  %D%/base/brief_lock.h \
  %D%/base/environment.c \
  %D%/base/environment.h \
  %D%/base/error.h \
  %D%/base/fork.c \
  %D%/base/fork.h \
  %D%/base/log.c \
  %D%/base/log.h \
  %D%/base/refcount.h \
  %D%/base/shutdown.c \
  %D%/base/shutdown.h \
  %D%/base/status.c \
  %D%/base/thread.h \
  %D%/base/thread_text.c \
  %D%/base/thread_text.h \
  %D%/base/version.c \
  %D%/device/automatic_device.c \
  %D%/device/automatic_device.h \
  %D%/device/backend_name.c \
  %D%/device/backend_name.h \
  %D%/device/candidates.c \
  %D%/device/current_device.c \
  %D%/device/current_device.h \
  %D%/device/default_device.c \
  %D%/device/device_facts.c \
  %D%/device/device_open.c \
  %D%/device/device_reset.c \
  %D%/device/device_state.h \
  %D%/device/device_string.c \
  %D%/device/host.c \
  %D%/device/host.h \
  %D%/device/layer_list.c %D%/device/layer_list.h \
  %D%/device/library_file.c \
  %D%/device/library_file.h \
  %D%/device/mirror_gate.c \
  %D%/device/mirror_gate.h \
  %D%/device/native.c \
  %D%/device/native.h \
  %D%/device/peer.c \
  %D%/device/peer.h \
  %D%/device/plugin.c \
  %D%/device/plugin.h \
  %D%/device/plugin_error.c \
  %D%/device/registry.c \
  %D%/device/registry.h \
  %D%/device/search.c \
  %D%/device/search.h \
  %D%/device/slot.c \
  %D%/device/slot.h \
  %D%/device/synchronous_stream.c \
  %D%/device/synchronous_stream.h \
  %D%/device/table_check.c \
  %D%/device/table_check.h \
  %D%/device/trust.c \
  %D%/device/trust.h \
  %D%/device/visibility.c \
  %D%/device/visibility.h
libtenon_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFFI_CFLAGS) \
  -DTN_BACKEND_DIR='"$(backenddir)"' \
  -DTN_LAYER_DIR='"$(layerdir)"' -DTN_DATA_DIR='"$(pkgdatadir)"'
# nodelete: plugins and handlers at exit outlive a dlclose of the library.
libtenon_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -Wl,-z,nodelete \
  -Wl,-Bsymbolic-functions \
  -version-info $(TN_LT_VERSION)
if HAVE_VERSION_SCRIPT
libtenon_la_LDFLAGS += -Wl,--version-script=$(top_srcdir)/%D%/libtenon.map
else
libtenon_la_LDFLAGS += -export-symbols-regex '^tn_'
endif
EXTRA_libtenon_la_DEPENDENCIES = %D%/libtenon.map
EXTRA_DIST += %D%/libtenon.map

include %D%/exec/local.mk
include %D%/memory/local.mk
include %D%/copy/local.mk
include %D%/launch/local.mk
include %D%/graph/local.mk
