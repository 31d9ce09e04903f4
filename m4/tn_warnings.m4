# TN_WARNINGS
# Puts the warning flags that the compiler knows into TN_CFLAGS;
# --enable-werror makes them errors (for tests, never for packagers).
AC_DEFUN([TN_WARNINGS], [
AC_ARG_ENABLE([werror],
  [AS_HELP_STRING([--enable-werror], [make warnings errors])])
TN_CFLAGS="$tn_optimise -std=c11 -fvisibility=hidden -fno-common"
for tn_flag in -Wall -Wextra -Wshadow -Wstrict-prototypes \
    -Wmissing-prototypes -Wvla -Wundef -Wpointer-arith -Wcast-qual \
    -Wwrite-strings
do
  tn_save=$CFLAGS
  CFLAGS="$CFLAGS $tn_flag -Werror"
  AC_MSG_CHECKING([whether $CC accepts $tn_flag])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int tn_probe;]])],
    [TN_CFLAGS="$TN_CFLAGS $tn_flag"; AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])])
  CFLAGS=$tn_save
done
AS_IF([test "x$enable_werror" = xyes], [TN_CFLAGS="$TN_CFLAGS -Werror"])
AC_SUBST([TN_CFLAGS])
])
