include backends/cpu/local.mk
include backends/cuda/local.mk
include backends/opencl/local.mk
include backends/template/local.mk

# What every plugin is linked with: a module of one exported symbol.
backend_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared \
  -no-undefined -export-symbols-regex '^tn_backend_entry$$'
