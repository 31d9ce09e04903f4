#!/bin/sh
# The example charlm: it learns; its lines are the same on every device, thread
# count and instruction-set level; and its errors.
# shellcheck disable=SC2086,SC2181 # options are words
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
charlm=$top_builddir/examples/charlm/charlm
tenon=$top_builddir/tools/tenon
unset TENON_DEVICE
text=$top_srcdir/docs/tour.md

# Devices that are not here are skipped; those that are here must work.
has() {
  "$tenon" devices 2>/dev/null | grep "^$1 " | grep -qv ' unavailable: '
}

# ---- the same everywhere

small='--steps 20 --sample 20 --batch 4 --context 16 --width 32 --heads 2'
tiny='--steps 20 --sample 2 --batch 1 --context 4 --width 8 --heads 2'
tiny="$tiny --layers 1"

# record SIZE: what cpu prints.
record() {
  "$charlm" --text "$text" $2 >"$tap_scratch/$1" 2>"$tap_scratch/err"
  [ $? -eq 0 ] && [ "$(grep -c '^step [0-9]* loss [0-9]' \
    "$tap_scratch/$1")" -eq "$3" ] && [ ! -s "$tap_scratch/err" ]
  tap_ok $? "$1: $3 lines of loss on cpu"
  sed 's/^/# /' "$tap_scratch/err"
}

# same TEXT SIZE OPTIONS COMMAND...: prints what cpu printed.
same() {
  what=$1 wanted=$2 options=$3
  shift 3
  "$@" "$charlm" --text "$text" $options >"$tap_scratch/out" \
    2>"$tap_scratch/err"
  [ $? -eq 0 ] && cmp "$tap_scratch/out" "$tap_scratch/$wanted"
  tap_ok $? "$what"
  sed 's/^/# /' "$tap_scratch/err"
}

# driven FORM LAUNCHES: on the second of two emulated GPUs, with so many graphs
# launched by the driver.
driven() {
  TENON_REPRODUCIBLE=1 "$top_builddir/tests/cudaemu/cudaemu-run" --devices 2 \
    --trace "$charlm" --text "$text" $tiny $1 --device cuda:1 \
    >"$tap_scratch/out" 2>"$tap_scratch/err"
  [ $? -eq 0 ] && cmp "$tap_scratch/out" "$tap_scratch/tiny"
  tap_ok $? "G6 cuda:1 of two, EMULATED, $1"
  launches=$(grep -c '^EMULATED: cuGraphLaunch: 0$' "$tap_scratch/err")
  [ "$launches" -ge "$2" ]
  tap_ok $? "G6 by at least $2 launches of graphs: $launches"
}

everywhere() {
  record small "$small" 20
  record tiny "$tiny" 20
  same "N1 a second run" small "$small" env
  same "N1 cpu:1 of two cpu devices" small "$small --device cpu:1" \
    env TENON_CPU_DEVICES=2
  same "D5 TENON_DEVICE=cpu:1" small "$small" \
    env TENON_CPU_DEVICES=2 TENON_DEVICE=cpu:1
  same "N1 one thread" small "$small" env TENON_NUM_THREADS=1
  same "N1 two threads" small "$small" env TENON_NUM_THREADS=2
  same "S4 TENON_LAUNCH_BLOCKING=1" small "$small" \
    env TENON_LAUNCH_BLOCKING=1
  same "C1 --callable" small "$small --callable" env
  same "G1 --graph" small "$small --graph" env
  same "S1 --stream" small "$small --stream" env
  for level in baseline v3 v4; do
    if TENON_CPU_ISA=$level has cpu:0; then
      same "N1 cpu at level $level" small "$small" env TENON_CPU_ISA=$level
    else
      tap_skip "no level $level on this processor"
    fi
  done
  if has opencl:0; then
    same "N1 opencl:0" small "$small --device opencl:0" env
    same "G1 opencl:0, --graph" small "$small --graph --device opencl:0" env
  else
    tap_skip "no opencl device here"
  fi
  same "N1 remote:0" tiny "$tiny --device remote:0" env
  same "G1 remote:0, --graph" tiny "$tiny --graph --device remote:0" env
  for form in --graph --callable; do
    same "G6 remote:0, $form, as a whole" tiny \
      "$tiny $form --device remote:0" env TENON_REMOTE_GRAPHS=1
  done
  if [ -x "$top_builddir/tests/cudaemu/cudaemu-run" ]; then
    same "N2 cuda:0, EMULATED, vendors' routines kept out" tiny \
      "$tiny --device cuda:0" env TENON_REPRODUCIBLE=1 \
      "$top_builddir/tests/cudaemu/cudaemu-run"
    for form in --graph --callable; do
      for calls in 0 1; do
        same "G6 cuda:0, EMULATED, $form, TENON_GRAPH_CALLS=$calls" tiny \
          "$tiny $form --device cuda:0" env TENON_REPRODUCIBLE=1 \
          TENON_GRAPH_CALLS=$calls "$top_builddir/tests/cudaemu/cudaemu-run" \
          --devices 1
      done
    done
    driven --graph 18
    driven --callable 36
  else
    tap_skip "the driver double is not built"
  fi
}

# ---- texts

# works TEXT LINES ARGUMENT...: so many lines of loss, and no complaint.
works() {
  what=$1 lines=$2
  shift 2
  "$charlm" "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
  [ $? -eq 0 ] && [ ! -s "$tap_scratch/err" ] &&
    [ "$(grep -ac '^step ' "$tap_scratch/out")" -eq "$lines" ]
  tap_ok $? "$what"
  sed 's/^/# /' "$tap_scratch/err"
}

# How many characters were written, with the end of the line.
written() {
  sed '/^step [0-9]* loss /d' "$tap_scratch/out" | LC_ALL=C.UTF-8 wc -m
}

texts() {
  one='--batch 2 --width 8 --layers 1 --heads 1'
  works "the documentation, if no text is named" 1 $one --steps 1 --sample 5
  [ "$(written)" -eq 6 ]
  tap_ok $? "five characters are written"
  printf 'abababababababababab' >"$tap_scratch/ab"
  works "a text of two characters" 20 $one --text "$tap_scratch/ab" \
    --context 8 --steps 20 --lr 0.05 --sample 40
  tail -n 1 "$tap_scratch/out" | grep -qE '^b?(ab)+a?$'
  tap_ok $? "which it learns"
  printf 'aaaaaaaaaa' >"$tap_scratch/a"
  works "a text of one kind of character" 1 $one --text "$tap_scratch/a" \
    --context 9 --steps 1 --sample 3
  printf 'xy' >"$tap_scratch/xy"
  works "a text of two characters in all" 1 $one --text "$tap_scratch/xy" \
    --context 1 --steps 1 --sample 1
  head -c 5000 "$charlm" >"$tap_scratch/binary"
  works "a file of bytes" 1 $one --text "$tap_scratch/binary" --steps 1 \
    --context 8 --sample 200
  tap_empty "$(LC_ALL=C tr -d '\t' <"$tap_scratch/out" |
    LC_ALL=C grep '[[:cntrl:]]')" \
    "nothing that would confuse a terminal is written"
  yes 'über Äpfel, 東京' | head -n 20 >"$tap_scratch/utf8"
  works "characters of several bytes" 1 $one --text "$tap_scratch/utf8" \
    --steps 1 --context 8 --sample 50
  iconv -f UTF-8 -t UTF-8 "$tap_scratch/out" >/dev/null
  tap_ok $? "which are written whole"
  "$charlm" $one --text - --steps 1 --context 4 --sample 2 \
    <"$tap_scratch/ab" >"$tap_scratch/out" 2>"$tap_scratch/err"
  tap_ok $? "a text from standard input"
  works "no training" 0 $one --text "$tap_scratch/ab" --context 4 --steps 0 \
    --sample 4
  works "no sample" 1 $one --text "$tap_scratch/ab" --context 4 --steps 1 \
    --sample 0
  works "a picture" 16 $one --text "$tap_scratch/ab" --context 4 --steps 30 \
    --sample 0 --plot "$tap_scratch/loss.svg"
  [ "$(grep -c '<svg ' "$tap_scratch/loss.svg")" -eq 1 ] &&
    tail -n 1 "$tap_scratch/loss.svg" | grep -qx '</svg>'
  tap_ok $? "which is SVG"
  "$charlm" --help >"$tap_scratch/out" && grep -q -e --sample \
    "$tap_scratch/out"
  tap_ok $? "--help lists the options"
}

# ---- errors

# refused STATUS PART ARGUMENT...: nothing on stdout, one line with PART.
refused() {
  wanted=$1 part=$2
  shift 2
  timeout 60 "$charlm" "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
  rc=$?
  [ $rc -eq "$wanted" ] && [ ! -s "$tap_scratch/out" ] &&
    [ "$(wc -l <"$tap_scratch/err")" -eq 1 ] &&
    grep -qF -e "$part" "$tap_scratch/err"
  tap_ok $? "charlm $*: exit status $wanted and one line"
  echo "# exit status $rc; $(cat "$tap_scratch/err")"
}

errors() {
  : >"$tap_scratch/empty"
  refused 1 "is empty" --text "$tap_scratch/empty"
  refused 1 "No such file" --text "$tap_scratch/missing"
  refused 1 "Is a directory" --text "$tap_scratch"
  refused 1 "Input/output error" --text /proc/self/mem
  printf x >"$tap_scratch/x"
  refused 1 "one character" --text "$tap_scratch/x"
  refused 1 "the text has 20 characters: up to 19" --text "$tap_scratch/ab" \
    --context 20
  refused 1 nosuch --device nosuch
  refused 1 cpu:99 --device cpu:99 --text "$text"
  refused 1 "is empty" --device ''
  refused 2 "whole number from 0" --steps -1
  refused 2 "whole number from 0" --steps 99999999999999999999
  refused 2 "whole number from 0" --sample -5
  refused 2 "whole number from 0" --sample 1e3
  refused 2 "whole number from 0" --seed x
  refused 2 "whole number from 1" --batch 0
  refused 2 "whole number from 1" --context ''
  refused 2 "multiple of the heads" --width 30 --heads 4
  refused 2 "above 0" --lr 0
  refused 2 "above 0" --lr nan
  refused 2 "needs a number" --steps
  refused 2 "needs FILE" --text
  refused 2 --verbose --verbose
  refused 2 document document
  TENON_DEVICE=nosuch "$charlm" >"$tap_scratch/out" 2>"$tap_scratch/err"
  [ $? -eq 1 ] && [ ! -s "$tap_scratch/out" ] &&
    grep -q TENON_DEVICE "$tap_scratch/err"
  tap_ok $? "D5 a wrong TENON_DEVICE is named"
  refused 1 "cannot be written" --text "$tap_scratch/ab" --context 4 \
    --steps 0 --sample 0 --plot /dev/full
  refused 1 nowhere --text "$tap_scratch/ab" --context 4 --steps 0 \
    --sample 0 --plot "$tap_scratch/nowhere/loss.svg"
  if [ -w /dev/full ]; then
    "$charlm" --text "$tap_scratch/ab" --context 4 --steps 1 --sample 0 \
      --batch 1 --width 8 >/dev/full 2>"$tap_scratch/err"
    [ $? -eq 1 ] && grep -q 'cannot write' "$tap_scratch/err"
    tap_ok $? "output that cannot be written"
  fi
  grep -rnE 'cuda|opencl|"cpu' "$top_srcdir/examples/charlm" \
    >"$tap_scratch/out"
  tap_empty "$(cat "$tap_scratch/out")" "its sources name no backend"
}

everywhere
texts
errors
tap_done
