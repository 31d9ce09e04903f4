#!/bin/sh
# The example partial_capture: with graphs it prints what it prints without, on
# every device; and its errors.
# shellcheck disable=SC2086,SC2181 # options are words
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
example=$top_builddir/examples/partial_capture
tenon=$top_builddir/tools/tenon
unset TENON_DEVICE

has() {
  "$tenon" devices 2>/dev/null | grep "^$1 " | grep -qv ' unavailable: '
}

# same TEXT STEPS OPTIONS COMMAND...: prints what cpu printed without graphs.
same() {
  what=$1 steps=$2 options=$3
  shift 3
  "$@" "$example" --steps "$steps" $options >"$tap_scratch/out" \
    2>"$tap_scratch/err"
  [ $? -eq 0 ] && ! grep -v 'warning: cpu: TENON_CPU_CHAOS' \
    "$tap_scratch/err" && cmp "$tap_scratch/out" "$tap_scratch/eager.$steps"
  tap_ok $? "$what"
  sed 's/^/# /' "$tap_scratch/err"
}

# both DEVICE STEPS COMMAND...
both() {
  where=$1 number=$2
  shift 2
  same "C1 $where: graphed parts" "$number" "--device $where" "$@"
  same "C1 $where: eager" "$number" "--device $where --eager" "$@"
}

for steps in 200 40 6; do
  "$example" --eager --steps $steps >"$tap_scratch/eager.$steps"
  tap_ok $? "$steps steps without graphs on cpu"
done
grep -q 'way low' "$tap_scratch/eager.200" &&
  grep -q 'way high' "$tap_scratch/eager.200"
tap_ok $? "either way is taken"
awk 'NR == 1 { first = $6 } { last = $6 } END { exit !(last < first / 4) }' \
  "$tap_scratch/eager.200"
tap_ok $? "it learns"

same "C1 cpu: the same lines with graphed parts" 200 '' env
same "N1 one thread" 40 '' env TENON_NUM_THREADS=1
same "N1 two threads" 40 '' env TENON_NUM_THREADS=2
same "S4 TENON_LAUNCH_BLOCKING=1" 40 '' env TENON_LAUNCH_BLOCKING=1
same "S1 TENON_CPU_CHAOS=7" 40 '' env TENON_CPU_CHAOS=7
both cpu:1 40 env TENON_CPU_DEVICES=2
both remote:0 6 env
if has opencl:0; then
  both opencl:0 40 env
else
  tap_skip "no opencl device here"
fi
if [ -x "$top_builddir/tests/cudaemu/cudaemu-run" ]; then
  both cuda:0 6 env TENON_REPRODUCIBLE=1 \
    "$top_builddir/tests/cudaemu/cudaemu-run"
else
  tap_skip "the driver double is not built"
fi

# refused PART STATUS ARGUMENT...: one line that names it.
refused() {
  part=$1 status=$2
  shift 2
  "$example" "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
  [ $? -eq "$status" ] && [ "$(wc -l <"$tap_scratch/err")" -eq 1 ] &&
    [ ! -s "$tap_scratch/out" ] && grep -qF -e "$part" "$tap_scratch/err"
  tap_ok $? "partial_capture $*: refused: $part"
}

refused '--steps "0": must be a number from 1 to 1000000' 2 --steps 0
refused '--steps "": must be' 2 --steps
refused '--seed "-1": must be a number from 0' 2 --seed -1
refused '--seed "99999999999999999999"' 2 --seed 99999999999999999999
refused '--device needs a device string' 2 --device
refused 'not understood: -x' 2 -x
refused 'unknown backend "nosuch"' 1 --device nosuch
refused 'cpu:7' 1 --device cpu:7
"$example" --help | grep -q '^usage: partial_capture '
tap_ok $? "--help"
"$example" --steps 1 >/dev/full 2>"$tap_scratch/err"
[ $? -eq 1 ] && grep -q 'cannot write' "$tap_scratch/err"
tap_ok $? "a full disk is noticed"
tap_done
