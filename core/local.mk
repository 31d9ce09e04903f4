lib_LTLIBRARIES += libtenon.la

libtenon_la_SOURCES = \
  %D%/base/status.c \
  %D%/base/version.c \
  %D%/base/error.h
libtenon_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFFI_CFLAGS) \
  -DTN_BACKEND_DIR='"$(backenddir)"' -DTN_DATA_DIR='"$(pkgdatadir)"'
libtenon_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined \
  -version-info $(TN_LT_VERSION)
if HAVE_VERSION_SCRIPT
libtenon_la_LDFLAGS += -Wl,--version-script=$(top_srcdir)/%D%/libtenon.map
else
libtenon_la_LDFLAGS += -export-symbols-regex '^tn_'
endif
EXTRA_libtenon_la_DEPENDENCIES = %D%/libtenon.map
EXTRA_DIST += %D%/libtenon.map
