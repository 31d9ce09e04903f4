tenonincludedir = $(includedir)/tenon
dist_tenoninclude_HEADERS = \
  %D%/tenon/autograd.h \
  %D%/tenon/backend.h \
  %D%/tenon/callable.h \
  %D%/tenon/copy.h \
  %D%/tenon/device.h \
  %D%/tenon/graph.h \
  %D%/tenon/kernel.h \
  %D%/tenon/kernel_lang.h \
  %D%/tenon/kernel_math.h \
  %D%/tenon/kernel_math_f64.h \
  %D%/tenon/memory.h \
  %D%/tenon/nn.h \
  %D%/tenon/ops.h \
  %D%/tenon/status.h \
  %D%/tenon/stream.h \
  %D%/tenon/tenon.h \
  %D%/tenon/tensor.h
nodist_tenoninclude_HEADERS = %D%/tenon/version.h
