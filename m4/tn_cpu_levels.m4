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
# These come after the user's flags, of which -Ofast would change results.
# (-fno-unsafe-math-optimizations would set other things in clang 14.)
TN_KERNEL_CFLAGS="-fno-fast-math -fno-finite-math-only -fsigned-zeros"
TN_KERNEL_CFLAGS="$TN_KERNEL_CFLAGS -fno-associative-math"
TN_KERNEL_CFLAGS="$TN_KERNEL_CFLAGS -fno-reciprocal-math -fno-lto"
TN_KERNEL_CFLAGS="$TN_KERNEL_CFLAGS -ffp-contract=off -fno-math-errno"
TN_KERNEL_CFLAGS="$TN_KERNEL_CFLAGS -fno-trapping-math"
# Wanted even where the user's CFLAGS say -O2, and better than gcc's -O3:
# short rows run at twice the speed. clang knows none of them; it has -O3.
tn_loops=
for tn_flag in -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops \
  -funswitch-loops -fsplit-loops -fversion-loops-for-strides \
  -fpredictive-commoning -ftree-partial-pre -fgcse-after-reload
do
  CFLAGS="$CFLAGS $tn_flag -Werror"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int tn_probe;]])],
    [tn_loops="$tn_loops $tn_flag"])
  CFLAGS=$tn_save
done
# clang also warns that -fno-trapping-math takes back a part of what
# -fno-unsafe-math-optimizations says, as it should.
AC_CHECK_DECL([__clang__],
  [tn_loops="-O3 $tn_loops -Wno-unknown-warning-option"
   tn_loops="$tn_loops -Wno-overriding-t-option -Wno-overriding-option"],
  [tn_loops="-O2 $tn_loops"], [])
TN_KERNEL_CFLAGS="$tn_loops $TN_KERNEL_CFLAGS"
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
