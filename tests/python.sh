#!/bin/sh
# The plain functions serve other languages: a training program in Python,
# over ctypes, with nothing but its standard library.
. "${top_srcdir:=.}/tests/tap.sh"
. "$top_srcdir/tests/python/environment.sh"
[ -n "$TN_PYTHON" ] || {
  echo '1..0 # SKIP no python here'
  exit 0
}
$TN_PYTHON "$top_srcdir/tests/python/train.py"
