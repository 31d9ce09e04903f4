# The tensor library, on the public headers of the core.
lib_LTLIBRARIES += libtenon-tensor.la
libtenon_tensor_la_SOURCES =
# Calls within the library take no detour for those who would replace them.
libtenon_tensor_la_LIBADD = libtenon.la -lm
libtenon_tensor_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -Wl,-z,nodelete \
  -Wl,-Bsymbolic-functions \
  -version-info $(TN_LT_VERSION)
if HAVE_VERSION_SCRIPT
libtenon_tensor_la_LDFLAGS += \
  -Wl,--version-script=$(top_srcdir)/core/libtenon.map
else
libtenon_tensor_la_LDFLAGS += -export-symbols-regex '^tn_'
endif

include %D%/tensor/local.mk
include %D%/compute/local.mk
include %D%/autograd/local.mk
include %D%/ops/local.mk
include %D%/nn/local.mk
include %D%/callable/local.mk
