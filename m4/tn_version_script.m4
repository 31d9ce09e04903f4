# TN_VERSION_SCRIPT
# Sets HAVE_VERSION_SCRIPT if the linker takes one.
AC_DEFUN([TN_VERSION_SCRIPT], [
AC_MSG_CHECKING([whether the linker takes a version script])
echo 'TN_0 { global: tn_*; local: *; };' > conftest.map
tn_save=$LDFLAGS
LDFLAGS="$LDFLAGS -shared -fPIC -Wl,--version-script=conftest.map"
AC_LINK_IFELSE([AC_LANG_SOURCE([[int tn_probe;]])],
  [tn_version_script=yes], [tn_version_script=no])
LDFLAGS=$tn_save
command rm -f conftest.map
AC_MSG_RESULT([$tn_version_script])
AM_CONDITIONAL([HAVE_VERSION_SCRIPT], [test "x$tn_version_script" = xyes])
])
