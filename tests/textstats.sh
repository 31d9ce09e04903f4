#!/bin/sh
# The example textstats: the same bytes on every device, thread count and
# instruction-set level, equal to those of a plain program; and its errors.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
textstats=$top_builddir/examples/textstats
tenon=$top_builddir/tools/tenon
reference=$top_builddir/tests/textstats_reference
unset TENON_DEVICE
piece=4194304 # bytes, as in textstats.c

files='noise.1 noise.2 words.1000 noise.4095 ramp.65537 zeros.70000'
files="$files noise.$((piece - 1)) words.$piece noise.$((piece + 1))"
files="$files words.$((2 * piece + 12345)) zeros.$((piece + 3))"
for file in $files; do
  "$reference" make "${file%.*}" "${file#*.}" >"$tap_scratch/$file" &&
    "$reference" count "$tap_scratch/$file" >"$tap_scratch/$file.wanted" ||
    { echo 'Bail out! the files cannot be made'; exit 1; }
done

# is_right FILE OUTPUT: all lines equal but for the entropies, which may be
# off by float's rounding.
is_right() {
  awk -v eps=0.0002 '
    NR == FNR { wanted[FNR] = $0; lines = FNR; next }
    FNR > lines { exit 1 }
    $2 == "entropy" {
      split(wanted[FNR], w, " ")
      off = $3 - w[3]
      if ($1 != w[1] || off > eps || off < -eps) exit 1
      next
    }
    $0 != wanted[FNR] { exit 1 }
    END { if (FNR != lines) exit 1 }' "$1.wanted" "$2"
}

against_reference() {
  for file in $files; do
    "$textstats" "$tap_scratch/$file" >"$tap_scratch/$file.cpu" &&
      is_right "$tap_scratch/$file" "$tap_scratch/$file.cpu"
    tap_ok $? "$file is counted right"
  done
}

# same TEXT VARIABLE=VALUE... -- OPTION...: every file gives the bytes that it
# gave before.
same() {
  text=$1
  shift
  settings=
  while [ "$1" != -- ]; do
    settings="$settings $1"
    shift
  done
  shift
  failed=
  for file in $files; do
    # shellcheck disable=SC2086 # each setting is a word
    env $settings "$textstats" "$tap_scratch/$file" "$@" \
      >"$tap_scratch/out" 2>"$tap_scratch/err" &&
      cmp -s "$tap_scratch/out" "$tap_scratch/$file.cpu" ||
      failed="$failed $file: $(head -n 1 "$tap_scratch/err")"
  done
  tap_empty "$failed" "$text"
}

# Devices that are not here are skipped; those that are here must work.
has() {
  "$tenon" devices 2>/dev/null | grep "^$1 " | grep -qv ' unavailable: '
}

on_devices() {
  same "N1 cpu:1 of two cpu devices" TENON_CPU_DEVICES=2 -- --device cpu:1
  same "D5 TENON_DEVICE=cpu:1" TENON_CPU_DEVICES=2 TENON_DEVICE=cpu:1 --
  same "N1 one thread" TENON_NUM_THREADS=1 --
  same "N1 two threads" TENON_NUM_THREADS=2 --
  same "S4 TENON_LAUNCH_BLOCKING=1" TENON_LAUNCH_BLOCKING=1 --
  for level in baseline v3 v4; do
    if TENON_CPU_ISA=$level has cpu:0; then
      same "N1 cpu at level $level" TENON_CPU_ISA=$level --
    else
      tap_skip "no level $level on this processor"
    fi
  done
  if has opencl:0; then
    same "N1 opencl:0" -- --device opencl:0
  else
    tap_skip "no opencl device here"
  fi
  same "N1 remote:0" -- --device remote:0
}

pipes() {
  cat "$tap_scratch/noise.$((piece + 1))" |
    "$textstats" - 2>"$tap_scratch/err" |
    cmp -s - "$tap_scratch/noise.$((piece + 1)).cpu"
  tap_ok $? "standard input gives the same"
  tap_empty "$(cat "$tap_scratch/err")" "no progress line in a pipe"
}

# refused STATUS PART ARGUMENT...: nothing on stdout, one line with PART.
refused() {
  wanted=$1 part=$2
  shift 2
  "$textstats" "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
  rc=$?
  [ $rc -eq "$wanted" ] && [ ! -s "$tap_scratch/out" ] &&
    [ "$(wc -l <"$tap_scratch/err")" -eq 1 ] &&
    grep -qF -e "$part" "$tap_scratch/err"
  tap_ok $? "textstats $*: exit status $wanted and one line"
  echo "# exit status $rc; $(cat "$tap_scratch/err")"
}

errors() {
  one=$tap_scratch/noise.1
  : >"$tap_scratch/empty"
  refused 1 "is empty" "$tap_scratch/empty"
  refused 1 "No such file" "$tap_scratch/missing"
  refused 1 "Is a directory" "$tap_scratch"
  cp "$one" "$tap_scratch/closed"
  chmod 000 "$tap_scratch/closed"
  if [ -r "$tap_scratch/closed" ]; then
    # Nothing is closed to root; this file can be opened and not read.
    refused 1 "Input/output error" /proc/self/mem
  else
    refused 1 "Permission denied" "$tap_scratch/closed"
  fi
  refused 1 nosuch "$one" --device nosuch
  refused 1 cpu:99 "$one" --device cpu:99
  refused 1 cpu:01 "$one" --device cpu:01
  refused 1 "cpu:512" "$one" --device cpu:512
  refused 1 "is empty" "$one" --device ''
  refused 2 "a file is needed"
  refused 2 --device "$one" --device
  refused 2 --verbose "$one" --verbose
  refused 2 "one file" "$one" "$one"
  TENON_DEVICE=nosuch "$textstats" "$one" >"$tap_scratch/out" \
    2>"$tap_scratch/err"
  [ $? -eq 1 ] && [ ! -s "$tap_scratch/out" ] &&
    grep -q TENON_DEVICE "$tap_scratch/err"
  tap_ok $? "D5 a wrong TENON_DEVICE is named"
  if [ -w /dev/full ]; then
    "$textstats" "$one" >/dev/full 2>"$tap_scratch/err"
    [ $? -eq 1 ] && grep -q 'cannot write' "$tap_scratch/err"
    tap_ok $? "output that cannot be written"
  fi
}

against_reference
on_devices
pipes
errors
tap_done
