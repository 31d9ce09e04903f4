#!/bin/sh
# The layer `race`: it finds what nothing orders, names both places, and says
# nothing of programs that are right.
# shellcheck disable=SC2086 # options are words
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
cases=$top_builddir/tests/race_cases
streams=$top_builddir/examples/streams/streams
text=$top_srcdir/docs/tour.md
unset TENON_DEVICE TENON_LAYERS
tiny="--text $text --steps 3 --sample 2 --batch 1 --context 4 --width 8"
tiny="$tiny --heads 2 --layers 1"

# silent TEXT COMMAND...: nothing is reported.
silent() {
  what=$1
  shift
  TENON_LAYERS=race:exit=86 "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
  status=$?
  [ $status -eq 0 ] && ! grep -q race: "$tap_scratch/err"
  tap_ok $? "$what: nothing is found"
  [ $status -eq 0 ] || sed 's/^/# /' "$tap_scratch/err"
}

# found TEXT COMMAND...: something is, with two places in the program. Work that
# the library happens to see done is in order: then it is tried again.
found() {
  what=$1
  shift
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    TENON_LAYERS=race:exit=86 "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
    status=$?
    [ $status -eq 0 ] || [ $status -eq 1 ] || break
  done
  places=$(grep -o "$(basename "$1")[^ (]*([^)]*+0x" "$tap_scratch/err" |
    wc -l)
  [ $status -eq 86 ] && [ "$places" -ge 2 ]
  tap_ok $? "$what is found, status 86, both places named"
  echo "# at try $try"
  [ $status -eq 86 ] || sed 's/^/# /' "$tap_scratch/err"
}

has() {
  "$tenon" devices 2>/dev/null | grep "^$1" | grep -qv ' unavailable: '
}

for device in cpu opencl remote; do
  has $device || {
    tap_skip "no $device"
    continue
  }
  TN_TEST_DEVICE=$device
  export TN_TEST_DEVICE
  for name in fill_copy copy_copy copy_fill halves host_waits freed; do
    silent "$device: $name, right" "$cases" $name right
    found "$device: $name, wrong" "$cases" $name wrong
  done
  silent "$device: relay, right" "$cases" relay right
  silent "$device: chain, right" "$cases" chain right
  for name in side join event rewrite record source double early; do
    silent "$device: $name, right" "$streams" $name --right --device $device
  done
  for name in side join event rewrite record; do
    found "$device: $name, wrong" "$streams" $name --wrong --device $device
  done
  silent "$device: textstats" "$top_builddir/examples/textstats" "$text" \
    --device $device
  silent "$device: charlm" "$top_builddir/examples/charlm/charlm" $tiny \
    --device $device
  for program in $device_tests; do
    case $program in
      # It writes to pinned memory before the copy ran, to see that it may.
      */copy) continue ;;
    esac
    silent "$device: $program" "$top_builddir/$program"
  done
done

# These need queues that hold work until it is waited for.
for device in cpu remote; do
  TN_TEST_DEVICE=$device
  for name in source double; do
    found "$device: $name, wrong" "$streams" $name --wrong --device $device
  done
  found "$device: relay, wrong" "$cases" relay wrong
  found "$device: chain, wrong" "$cases" chain wrong
done
silent "two cpu devices, right" env TENON_CPU_DEVICES=2 "$streams" devices \
  --right
TENON_CPU_DEVICES=2
export TENON_CPU_DEVICES
found "two cpu devices, wrong" "$streams" devices --wrong
unset TENON_CPU_DEVICES

TN_TEST_DEVICE=cpu
TENON_LAYERS=race "$cases" fill_copy wrong 2>"$tap_scratch/err"
tap_ok $? "without exit= the program's status stays"
tap_has "$(cat "$tap_scratch/err")" \
  "race: a read and a write of the byte at 0x" "what it found is told"
TENON_LAYERS=race:exit=300 "$cases" fill_copy right 2>"$tap_scratch/err"
tap_has "$(cat "$tap_scratch/err")" "exit=300: a number from 0 to 255" \
  "a status beyond 255 is refused"
tap_done
