#!/bin/sh
# The long tier, `make check-full`: the quick tests again with both compilers,
# the sanitizers, valgrind and other seeds, then the distribution. Not run by
# `make check`.
#   tests/full.sh [PATTERN]    only configurations whose name matches
# Each configuration is built in a folder of its own under full/, which is
# kept, so that a second run builds only what changed.
: "${top_srcdir:=.}"
: "${MAKE:=make}"
top_srcdir=$(cd "$top_srcdir" && pwd)
pattern=${1:-.}
jobs=$(nproc 2>/dev/null || echo 2)
failed=0

# name | compiler | configure's arguments | environment of the tests
configurations='gcc                  |gcc  ||
gcc seeds            |gcc  ||TENON_REMOTE_SEED=2 TENON_REMOTE_LATENCY=1000
gcc at once          |gcc  ||TENON_REMOTE_SEED=3 TENON_REMOTE_LATENCY=0
gcc functions        |gcc  ||TN_TEST_FULL=1 TN_ORACLE_PROGRAMS=10000 TN_ORACLE_SEED=10001
gcc -O0              |gcc  |CFLAGS=-O0|
clang                |clang||
gcc address          |gcc  |--enable-sanitizers=address,undefined|
clang address        |clang|--enable-sanitizers=address,undefined|
gcc thread           |gcc  |--enable-sanitizers=thread|TENON_REMOTE_SEED=4
clang thread         |clang|--enable-sanitizers=thread|TENON_REMOTE_SEED=5
no opencl, no cuda   |gcc  |--disable-opencl --disable-cuda|'

say() { printf 'full: %s\n' "$*"; }

# prepare FOLDER COMPILER ARGUMENTS
prepare() {
  mkdir -p "$1" && cd "$1" || return 1
  [ -e config.status ] ||
    "$top_srcdir/configure" -q --enable-werror "CC=$2" $3 || return 1
  $MAKE -s -j"$jobs"
}

# The sum of a number over the summaries that make check printed.
count() {
  sed -n "s/^# $1: *//p" "$2" | tail -n 1
}

# configuration NAME COMPILER ARGUMENTS ENVIRONMENT
configuration() {
  folder=full/$(printf '%s' "$2 $3" | tr -cs 'a-zA-Z0-9\n' -)
  log=$PWD/full/$(printf '%s' "$1" | tr -cs 'a-zA-Z0-9\n' -).log
  begun=$(date +%s)
  if ! command -v "$2" >/dev/null; then
    say "$1: skipped: no $2 here"
    return 0
  fi
  (prepare "$folder" "$2" "$3" && env $4 $MAKE -j"$jobs" check) \
    >"$log" 2>&1
  status=$?
  say "$1: $(count PASS "$log") passed, $(count FAIL "$log") failed," \
    "$(count SKIP "$log") skipped ($(($(date +%s) - begun)) s)"
  [ $status -eq 0 ] && return 0
  say "$1: FAILED, see $log"
  grep -E '^(FAIL|ERROR|XPASS): |error: ' "$log" | head -n 20
  failed=1
}

# The programs of the first configuration, without its tests.
under_valgrind() {
  log=$PWD/full/valgrind.log
  begun=$(date +%s)
  (prepare full/gcc- gcc '' && $MAKE -j"$jobs" valgrind) >"$log" 2>&1
  status=$?
  say "valgrind: $(grep -c '^ok ' "$log") passed," \
    "$(grep -c '^not ok ' "$log") failed ($(($(date +%s) - begun)) s)"
  [ $status -eq 0 ] && return 0
  say "valgrind: FAILED, see $log"
  grep '^not ok ' "$log" | head -n 20
  failed=1
}

# make distcheck, and that no script minds a folder called core.
distribution() {
  log=$PWD/full/distcheck.log
  begun=$(date +%s)
  $MAKE -j"$jobs" distcheck >"$log" 2>&1
  status=$?
  if grep -n "cannot remove 'core'" "$log"; then status=1; fi
  say "distcheck: status $status ($(($(date +%s) - begun)) s)"
  [ $status -eq 0 ] && return 0
  say "distcheck: FAILED, see $log"
  failed=1
}

# Configured and built inside a copy of the sources.
in_tree() {
  log=$PWD/full/in-tree.log
  begun=$(date +%s)
  rm -rf full/in-tree
  $MAKE -s distdir distdir=full/in-tree >"$log" 2>&1 &&
    (cd full/in-tree && ./configure -q --enable-werror &&
      $MAKE -s -j"$jobs" && $MAKE -j"$jobs" check) >>"$log" 2>&1
  status=$?
  if grep -n "cannot remove 'core'" "$log"; then status=1; fi
  say "in-tree build: status $status ($(($(date +%s) - begun)) s)"
  [ $status -eq 0 ] && return 0
  say "in-tree build: FAILED, see $log"
  failed=1
}

matches() {
  printf '%s\n' "$1" | grep -qE "$pattern"
}

mkdir -p full
while IFS='|' read -r name compiler arguments environment; do
  name=$(echo $name)
  matches "$name" || continue
  configuration "$name" "$(echo $compiler)" "$arguments" "$environment"
done <<END
$configurations
END
if matches valgrind; then under_valgrind; fi
if matches in-tree; then in_tree; fi
if matches distcheck; then distribution; fi
[ $failed -eq 0 ] && say 'all configurations pass'
exit $failed
