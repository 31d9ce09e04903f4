# TN_CUDA
# --enable-cuda=yes|no|auto, --with-cuda-archs=LIST. Neither the toolkit nor
# its headers are needed: the driver is opened at run time, its calls are
# declared in backends/cuda/driver.h, and the kernels are there as PTX. With
# nvcc, code for the architectures of the list is built in too. cuda.h, where
# there is one, is compared with our declarations by a test.
AC_DEFUN([TN_CUDA], [
AC_ARG_ENABLE([cuda],
  [AS_HELP_STRING([--enable-cuda], [build the cuda backend (auto)])],
  [], [enable_cuda=auto])
AC_ARG_WITH([cuda-archs],
  [AS_HELP_STRING([--with-cuda-archs=LIST],
    [build machine code for these devices into the cuda backend, such as
     "80,90,120"; "yes" is 75,80,86,89,90,100,120. Needs nvcc and minutes.
     Without it drivers compile the kernels at first use (no)])],
  [], [with_cuda_archs=no])
AC_PATH_PROG([NVCC], [nvcc])
tn_cuda=no
AS_IF([test "x$enable_cuda" != xno],
  [AC_CACHE_CHECK([for .incbin and 64-bit addresses], [tn_cv_cuda_incbin],
    [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
__asm__(".pushsection .rodata\n.globl tn_data\n.hidden tn_data\ntn_data:\n"
        ".incbin \"conftest.c\"\n.byte 0\n.popsection\n");
typedef char is_wide[sizeof(void *) == 8 ? 1 : -1];
]])], [tn_cv_cuda_incbin=yes], [tn_cv_cuda_incbin=no])])
  tn_cuda=$tn_cv_cuda_incbin
  AS_IF([test "x$enable_cuda$tn_cuda" = xyesno],
    [AC_MSG_ERROR([the cuda backend needs .incbin and 64-bit addresses])])])
AS_CASE([$with_cuda_archs],
  [no], [tn_cuda_archs=],
  [yes], [tn_cuda_archs='75 80 86 89 90 100 120'],
  [tn_cuda_archs=`AS_ECHO(["$with_cuda_archs"]) | tr , ' '`])
AS_IF([test -n "$tn_cuda_archs" && test -z "$NVCC"],
  [AC_MSG_ERROR([--with-cuda-archs needs nvcc])])
AC_SUBST([TN_CUDA_ARCHS], [$tn_cuda_archs])
# Looked for beside nvcc too; only for the test.
TN_CUDA_CPPFLAGS=
tn_cuda_home=`AS_DIRNAME(["$NVCC"])`/../include
AS_IF([test -n "$NVCC" && test -f "$tn_cuda_home/cudaTypedefs.h"],
  [TN_CUDA_CPPFLAGS="-isystem $tn_cuda_home"])
AC_SUBST([TN_CUDA_CPPFLAGS])
tn_save_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $TN_CUDA_CPPFLAGS"
AC_CHECK_HEADER([cudaTypedefs.h], [tn_cuda_header=yes], [tn_cuda_header=no])
CPPFLAGS=$tn_save_CPPFLAGS
AM_CONDITIONAL([CUDA], [test "x$tn_cuda" = xyes])
AM_CONDITIONAL([CUDA_FATBIN], [test -n "$tn_cuda_archs"])
AM_CONDITIONAL([CUDA_HEADER], [test "x$tn_cuda_header" = xyes])
])
