# TN_OPENCL
# --enable-opencl=yes|no|auto. Only headers are needed: the ICD loader is
# opened at run time.
AC_DEFUN([TN_OPENCL], [
AC_ARG_ENABLE([opencl],
  [AS_HELP_STRING([--enable-opencl], [build the opencl backend (auto)])],
  [], [enable_opencl=auto])
tn_opencl=no
AS_IF([test "x$enable_opencl" != xno], [
  AC_CHECK_HEADER([CL/cl.h], [tn_opencl=yes],
    [AS_IF([test "x$enable_opencl" = xyes],
      [AC_MSG_ERROR([CL/cl.h not found (Debian: opencl-headers)])])],
    [#define CL_TARGET_OPENCL_VERSION 300])])
AM_CONDITIONAL([OPENCL], [test "x$tn_opencl" = xyes])
])
