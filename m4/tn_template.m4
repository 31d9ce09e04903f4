# TN_TEMPLATE
# --enable-template-backend: installs backends/template as a plugin; its source
# is installed anyhow, and the tests use the plugin.
AC_DEFUN([TN_TEMPLATE], [
AC_ARG_ENABLE([template-backend],
  [AS_HELP_STRING([--enable-template-backend],
    [install the template of a backend as a plugin, too (no)])],
  [], [enable_template_backend=no])
AM_CONDITIONAL([TEMPLATE_BACKEND], [test "x$enable_template_backend" = xyes])
])
