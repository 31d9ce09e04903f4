#!/bin/sh
# The layer `race`: it finds what nothing orders, names both places, and says
# nothing of programs that are right.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
unset TENON_DEVICE TENON_LAYERS TENON_CPU_DEVICES TENON_CPU_CHAOS
tenon=$top_builddir/tools/tenon
under=
. "$top_srcdir/tests/race_on.sh"

has() {
  "$tenon" devices 2>/dev/null | grep "^$1" | grep -qv ' unavailable: '
}

for device in cpu opencl:0 remote; do
  has ${device%:*} || {
    tap_skip "no $device"
    continue
  }
  race_on $device
  TN_TEST_DEVICE=$device
  for program in $device_tests; do
    case $program in
      # It writes to pinned memory before the copy ran, to see that it may.
      */copy) continue ;;
    esac
    silent "$device: $program" "$top_builddir/$program"
  done
done

TENON_CPU_DEVICES=4
export TENON_CPU_DEVICES
race_on cpu:2
silent "two devices, right" "$streams" devices --right --device cpu:2
found "two devices, wrong" "$streams" devices --wrong --device cpu:2
unset TENON_CPU_DEVICES

TN_TEST_DEVICE=cpu
TENON_LAYERS=race "$cases" fill_copy wrong 2>"$tap_scratch/err"
tap_ok $? "without exit= the program's status stays"
said=$(cat "$tap_scratch/err")
tap_has "$said" "race: a read and a write of the byte at 0x" \
  "what it found is told"
tap_has "$said" " of the 2097152 at 0x" "with the allocation"
tap_has "$said" ", an allocation of cpu:0, at race_cases" \
  "and where that was made"
tap_has "$said" ": a copy on stream 2 of cpu:0, at race_cases" "the one access"
tap_has "$said" "; and a fill on stream 1 of cpu:0, at race_cases" \
  "the other one"
TENON_LAYERS=race "$cases" host_reads wrong 2>"$tap_scratch/err"
tap_has "$(cat "$tap_scratch/err")" "race: the host read pinned memory at 0x" \
  "what the host read is told"
TENON_LAYERS=race "$cases" host_writes wrong 2>"$tap_scratch/err"
tap_has "$(cat "$tap_scratch/err")" \
  "race: the host wrote to pinned memory at 0x" "and what it wrote"

# Each block an allocation of its own.
TENON_NO_MEMORY_CACHING=1 TENON_LAYERS=race "$cases" fill_copy wrong \
  2>"$tap_scratch/err"
tap_has "$(cat "$tap_scratch/err")" " of the 65536 at 0x" \
  "without a cache the allocation is the program's"

refused() {
  TENON_LAYERS=race:$1 "$cases" fill_copy right 2>"$tap_scratch/err"
  tap_has "$(cat "$tap_scratch/err")" "$2" "$1 is refused"
}

refused exit=300 'exit=300: a number from 0 to 255'
refused extents=/nowhere/x 'cannot be read'
refused "extents=$tap_scratch" 'cannot be read: Is a directory'
refused extents=/dev/zero 'less than 1048576 bytes are accepted'
printf 'mine/mark *=n\0' >"$tap_scratch/extents"
refused "extents=$tap_scratch/extents" 'byte 13 is 0: it is no text'
for line in 'mark *=n' 'mine/mark n' 'mine/mark *=' 'mine/mark =n'; do
  echo "$line" >"$tap_scratch/extents"
  refused "extents=$tap_scratch/extents" \
    'line 1: accepted is MODULE/KERNEL NAME=COUNT:STRIDE'
done
tap_done
