# TN_LIBTORCH
# For the bench alone, which is without its peer where libtorch is not found.
AC_DEFUN([TN_LIBTORCH], [
tn_libtorch=no
TN_LIBTORCH_CPPFLAGS=-I/usr/include/torch/csrc/api/include
AC_LANG_PUSH([C++])
AC_MSG_CHECKING([for libtorch])
tn_save_CPPFLAGS=$CPPFLAGS tn_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $TN_LIBTORCH_CPPFLAGS"
LIBS="-ltorch -ltorch_cpu -lc10 $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <torch/version.h>
#if TORCH_VERSION_MAJOR < 1
#error too old
#endif]], [])], [tn_libtorch=yes])
CPPFLAGS=$tn_save_CPPFLAGS LIBS=$tn_save_LIBS
AC_MSG_RESULT([$tn_libtorch])
AC_LANG_POP([C++])
AC_SUBST([TN_LIBTORCH_CPPFLAGS])
AM_CONDITIONAL([LIBTORCH], [test "x$tn_libtorch" = xyes])
])
