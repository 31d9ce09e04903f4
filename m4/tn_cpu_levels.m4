# TN_CPU_LEVELS
# The instruction-set levels the cpu backend is built for: baseline, and on
# x86-64 also v3 and v4. The program chooses among them at load.
AC_DEFUN([TN_CPU_LEVELS], [
AC_REQUIRE([AC_PROG_CC])
tn_cpu_levels=baseline
AC_MSG_CHECKING([whether $CC builds for x86-64-v3 and v4])
tn_save=$CFLAGS
CFLAGS="$CFLAGS -march=x86-64-v4"
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __x86_64__
#error no levels
#endif
int tn_probe;]])],
  [tn_cpu_levels="baseline v3 v4"; AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])])
CFLAGS=$tn_save
TN_KERNEL_CFLAGS="-O3 -ffp-contract=off -fno-math-errno -fno-trapping-math"
TN_V3_CFLAGS="-march=x86-64-v3"
TN_V4_CFLAGS="-march=x86-64-v4"
for tn_flag in -mprefer-vector-width=512
do
  CFLAGS="$CFLAGS $tn_flag"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int tn_probe;]])],
    [TN_V4_CFLAGS="$TN_V4_CFLAGS $tn_flag"])
  CFLAGS=$tn_save
done
AC_SUBST([TN_KERNEL_CFLAGS])
AC_SUBST([TN_V3_CFLAGS])
AC_SUBST([TN_V4_CFLAGS])
AM_CONDITIONAL([CPU_LEVELS], [test "$tn_cpu_levels" != baseline])
])
