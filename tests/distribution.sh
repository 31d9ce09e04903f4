#!/bin/sh
# A distribution has every file of the checkout, and nothing else but what
# bootstrap makes.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
if ! git -C "$top_srcdir" rev-parse --show-cdup >/dev/null 2>&1 ||
  [ -n "$(git -C "$top_srcdir" rev-parse --show-cdup)" ]; then
  echo '1..0 # SKIP not a checkout'
  exit 0
fi
tap_folder
MAKEFLAGS='' ${MAKE:-make} -s -C "$top_builddir" distdir \
  "distdir=$tap_scratch/dist" >"$tap_scratch/log" 2>&1
status=$?
tap_ok $status "make distdir works"
[ $status -eq 0 ] || sed 's/^/# /' "$tap_scratch/log"

git -C "$top_srcdir" ls-files | grep -v '^\.gitignore$' |
  LC_ALL=C sort > "$tap_scratch/tracked"
(cd "$tap_scratch/dist" && find . -type f | sed 's,^\./,,') |
  LC_ALL=C sort > "$tap_scratch/shipped"
tap_empty "$(comm -23 "$tap_scratch/tracked" "$tap_scratch/shipped")" \
  "every tracked file is distributed"
# Generated: by autoconf and friends, into known places.
tap_empty "$(comm -13 "$tap_scratch/tracked" "$tap_scratch/shipped" |
  grep -vE '^(configure|aclocal\.m4|config\.h\.in|Makefile\.in)$' |
  grep -vE '^(build-aux|m4)/')" "nothing untracked is distributed"
tap_done
