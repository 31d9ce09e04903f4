#!/bin/sh
# The layer `trace`: its file is valid JSON, its spans nest, its flows match,
# the program prints the same, and a killed one leaves a whole file.
# shellcheck disable=SC2086 # options are words
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
textstats=$top_builddir/examples/textstats
charlm=$top_builddir/examples/charlm/charlm
text=$top_srcdir/docs/tour.md
unset TENON_DEVICE TENON_LAYERS
tiny="--text $text --steps 3 --sample 2 --batch 1 --context 4 --width 8"
tiny="$tiny --heads 2 --layers 1"
trace=$tap_scratch/trace.json

if ! python3 -c 'import json' 2>/dev/null; then
  echo '1..0 # SKIP no python3, which reads the traces'
  exit 0
fi

# check TEXT [--cut]: the trace is right.
check() {
  found=$(python3 "$top_srcdir/tests/trace_check.py" "$trace" $2 2>&1)
  [ $? -eq 0 ] && [ -z "$(echo "$found" | grep -v '^#')" ]
  tap_ok $? "$1: valid JSON, spans nest, flows match"
  echo "$found" | sed 's/^/# /'
}

# traced TEXT COMMAND...
traced() {
  what=$1
  shift
  rm -f "$trace"
  "$@" >"$tap_scratch/wanted"
  TENON_LAYERS=trace:file=$trace "$@" >"$tap_scratch/out" &&
    cmp "$tap_scratch/out" "$tap_scratch/wanted"
  tap_ok $? "$what prints the same when traced"
  check "$what"
}

TENON_CPU_DEVICES=4
export TENON_CPU_DEVICES
for device in cpu cpu:2 opencl:0 remote; do
  "$tenon" devices 2>/dev/null | grep "^${device%:*}" |
    grep -qv ' unavailable: ' || {
    tap_skip "no $device"
    continue
  }
  traced "textstats on $device" "$textstats" "$text" --device $device
  grep -q '"name":"Memcpy HtoD".*"bytes":' "$trace"
  tap_ok $? "copies have their bytes"
  traced "charlm on $device" "$charlm" $tiny --device $device
  grep -q '"cat":"kernel","name":"[a-z_]*/[a-z_0-9]*"' "$trace"
  tap_ok $? "kernels have their names"
  traced "charlm --graph on $device" "$charlm" $tiny --graph --device $device
  grep -q '"cat":"kernel","name":"[a-z_]*/[a-z_0-9]*"' "$trace"
  tap_ok $? "kernels of a graph have their names"
done

# On a stream of its own runs come after their calls; and it can be drawn.
traced "charlm on a stream of its own" "$charlm" $tiny --stream --device cpu
python3 "$top_srcdir/build-aux/trace_svg.py" "$trace" "$tap_scratch/out.svg"
tap_ok $? "it is drawn"
said=$(python3 - "$tap_scratch/out.svg" <<'END'
import sys
import xml.dom.minidom
picture = xml.dom.minidom.parse(sys.argv[1])
texts = [t.firstChild.data for t in picture.getElementsByTagName("text")]
boxes = len(picture.getElementsByTagName("title"))
lines = len([p for p in picture.getElementsByTagName("path")
             if p.getAttribute("fill") == "none"])
print([t for t in ("calls", "cpu:0", "stream 1") if t not in texts],
      boxes > 20, lines > 10)
END
)
[ "$said" = "[] True True" ]
tap_ok $? "with its rows, boxes and flows"
python3 "$top_srcdir/build-aux/trace_svg.py" "$trace" "$tap_scratch/out.svg" \
  --from nosuch 2>"$tap_scratch/err"
tap_has "$(cat "$tap_scratch/err")" 'no two runs of nosuch' \
  "what cannot be drawn is told"

TENON_LAYERS=trace:file=$tap_scratch/%p.json "$charlm" $tiny >/dev/null
mv "$tap_scratch"/[0-9]*.json "$trace"
check "charlm, %p in the name"

TENON_LAYERS=trace:file=$trace,trace:file=$trace.other "$charlm" $tiny \
  >/dev/null 2>"$tap_scratch/err"
tap_has "$(cat "$tap_scratch/err")" 'a process has one trace' \
  "a second file is refused"

# Killed once the file has work in it.
rm -f "$trace"
TENON_LAYERS=trace:file=$trace "$charlm" $tiny --steps 100000000 >/dev/null &
process=$!
until grep -qs '"cat":"kernel"' "$trace"; do
  kill -0 $process 2>/dev/null || break
done
kill -KILL $process
wait $process 2>/dev/null
check "charlm, killed" --cut
tap_done
