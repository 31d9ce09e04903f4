# TN_LIBFFI
# libffi's header is needed to build; the library is opened when first used
# (tn_kernel_native), since loading it costs more than a program's start.
AC_DEFUN([TN_LIBFFI], [
PKG_CHECK_MODULES([LIBFFI], [libffi], [],
  [AC_MSG_ERROR([libffi is needed (Debian: libffi-dev)])])
])
