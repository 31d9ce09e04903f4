# TN_FLOAT
# Kernels give the same bits everywhere only where float expressions are
# computed in float.
AC_DEFUN([TN_FLOAT], [
AC_MSG_CHECKING([whether float is computed in float])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <float.h>
#if FLT_EVAL_METHOD != 0
#error float expressions are evaluated in another precision
#endif
int tn_probe;]])],
  [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([FLT_EVAL_METHOD must be 0 (on 32-bit x86: -msse2 -mfpmath=sse)])])
])
