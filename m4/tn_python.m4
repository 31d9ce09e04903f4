# TN_PYTHON
# Python is for tests alone, which are skipped without it. TN_PYTHON: one that
# runs; TN_TORCH_PYTHON: one that has PyTorch. PYTHON=FILE is tried first.
AC_DEFUN([TN_PYTHON], [
AC_ARG_VAR([PYTHON], [Python 3 for the tests, with PyTorch for some of them])
AC_CACHE_CHECK([for python], [tn_cv_python], [
  tn_cv_python=
  for tn_each in $PYTHON python3 /usr/bin/python3; do
    AS_IF([test -z "$tn_cv_python" && $tn_each -c 'import ctypes, array' \
      >/dev/null 2>&1], [tn_cv_python=$tn_each])
  done])
AC_CACHE_CHECK([for a python with PyTorch], [tn_cv_torch_python], [
  tn_cv_torch_python=
  for tn_each in $PYTHON python3 /usr/bin/python3; do
    AS_IF([test -z "$tn_cv_torch_python" && $tn_each -c 'import sys
from importlib.util import find_spec
sys.exit(find_spec("torch") is None)' >/dev/null 2>&1],
      [tn_cv_torch_python=$tn_each])
  done])
AC_SUBST([TN_PYTHON], [$tn_cv_python])
AC_SUBST([TN_TORCH_PYTHON], [$tn_cv_torch_python])
])
