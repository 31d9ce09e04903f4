#!/bin/sh
# The example streams: under chaos each pattern's right form has right values
# with every seed, and its wrong form wrong ones with some.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
streams=$top_builddir/examples/streams/streams
unset TENON_DEVICE TENON_CPU_CHAOS TENON_NO_MEMORY_CACHING
TENON_CPU_DEVICES=2
export TENON_CPU_DEVICES
seeds='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20'

# Of 9 patterns, each has a line for either form.
patterns=$("$streams" | sed -n 's/^\([a-z]*\) *--right .*/\1/p')
[ "$(echo $patterns | wc -w)" -eq 9 ] &&
  [ "$("$streams" | grep -c -e '--wrong ')" -eq 9 ]
tap_ok $? "the patterns are listed: $(echo $patterns)"

# run PATTERN FORM DEVICE [SEED]: the exit status.
run() {
  TENON_CPU_CHAOS=$4 "$streams" "$1" "$2" --device "$3" \
    >"$tap_scratch/out" 2>"$tap_scratch/err"
}

show() {
  sed 's/^/# /' "$tap_scratch/out" "$tap_scratch/err"
}

right() {
  for seed in $seeds; do
    run "$1" --right cpu "$seed" || { show; break; }
    seed=
  done
  tap_empty "$seed" "S1 $1: the right form is right with seeds 1 to 20"
}

# ThreadSanitizer sees the host's part of it, too, and ends with 66.
wrong() {
  for seed in $seeds; do
    run "$1" --wrong cpu "$seed"
    status=$?
    [ $status -eq 0 ] || break
  done
  [ $status -eq 1 ] ||
    { [ $status -eq 66 ] && [ "$TN_SANITIZERS" = thread ]; }
  tap_ok $? "S1 $1: the wrong form is wrong with seed $seed of 1 to 20"
  show
}

for pattern in $patterns; do
  right "$pattern"
  wrong "$pattern"
  "$streams" "$pattern" --right >"$tap_scratch/out" 2>&1 --device remote:0
  tap_ok $? "S1 $pattern: and right on remote"
done

# refused PART ARGUMENT...
refused() {
  part=$1
  shift
  "$streams" "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
  [ $? -eq 2 ] && grep -qF -e "$part" "$tap_scratch/err"
  tap_ok $? "streams $*: refused: $part"
}

refused 'no pattern nosuch' nosuch --right
refused 'either --right or --wrong' side
refused 'either --right or --wrong' side --right --wrong
refused 'a pattern is needed' --right
refused 'needs a device' side --right --device
refused 'not understood: -x' side --right -x
refused 'cpu:7' side --right --device cpu:7
TENON_CPU_DEVICES=1
refused 'cpu has 1 device' devices --right --device cpu
TENON_CPU_CHAOS=x
export TENON_CPU_CHAOS
refused 'TENON_CPU_CHAOS="x": must be a number from 1 to 2147483647' \
  side --right --device cpu
tap_done
