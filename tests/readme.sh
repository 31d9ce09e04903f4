#!/bin/sh
# The README's program is examples/hello.c, and does what the README says.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
hello=$top_builddir/examples/hello

awk '/^```$/ { inside = 0 } inside; /^```c$/ { inside = 1 }' \
  "$top_srcdir/README.md" >"$tap_scratch/readme.c"
cmp "$tap_scratch/readme.c" "$top_srcdir/examples/hello.c"
tap_ok $? "README.md shows examples/hello.c as it is"

prints() {
  out=$("$hello" "$1" 2>&1)
  [ "$out" = "12 24 36" ]
  tap_ok $? "hello $1 prints 12 24 36"
  [ "$out" = "12 24 36" ] || echo "# got: $out"
}

prints cpu
if "$top_builddir/tools/tenon" devices | grep '^opencl:0 ' |
  grep -qv ' unavailable: '; then
  prints opencl
else
  tap_skip "no opencl device here"
fi
# The rehearsal backend has no memory that the host could use.
out=$("$hello" remote 2>&1)
[ "$out" = "12 24 36" ]
tap_ok $? "hello remote prints 12 24 36"
out=$("$hello" nosuch 2>&1)
[ $? -eq 1 ]
tap_ok $? "hello nosuch fails"
tap_has "$out" 'unknown backend "nosuch"' "D4 and says what is missing"
tap_done
