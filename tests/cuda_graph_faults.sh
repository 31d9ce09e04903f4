#!/bin/sh
# Every call that the cuda plugin makes of the driver double to capture, make,
# change and run a graph fails in turn.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES TENON_GRAPH_CALLS
unset TENON_LAUNCH_BLOCKING TENON_LAYERS TN_TEST_ONCE
TN_TEST_DEVICE=cuda:0
export TN_TEST_DEVICE
output=$tap_scratch/output

# run OPTION...: graph_faults with a list of the driver's calls.
run() {
  timeout 60 "$top_builddir/tests/cudaemu/cudaemu-run" --devices 1 --trace \
    "$@" "$top_builddir/tests/graph_faults" > "$output" 2>&1
}

# The calls between the marks: name, how many came before, the last one. How
# often some are made is a matter of time.
TN_TEST_ONCE=1 run
tap_ok $? "G1 without a fault"
awk '/^# begin/ { inside = 1 }
  /^# end/ { inside = 0 }
  /^EMULATED: cu/ {
    sub(/:$/, "", $2)
    if (inside) last[$2] = ++count[$2]
    else if (!last[$2]) first[$2] = ++count[$2]
  }
  END { for (name in last) if (last[name]) print name, first[name] + 0, \
    last[name] }' "$output" |
  grep -v '^cuCtxGetCurrent \|^cuEventQuery \|^cuEventSynchronize ' |
  sort > "$tap_scratch/calls"
[ "$(wc -l < "$tap_scratch/calls")" -ge 15 ]
tap_ok $? "G6 the calls of a graph: $(cut -d ' ' -f 1 "$tap_scratch/calls" |
  tr '\n' ' ')"

# What is not given back, or captures still: nothing.
find_left() {
  awk '/^EMULATED: cu/ { calls[$2]++; good[$2] += $3 == 0 }
    END {
      if (good["cuStreamBeginCapture:"] > calls["cuStreamEndCapture:"])
        print "a capture"
      if (good["cuStreamEndCapture:"] != calls["cuGraphDestroy:"])
        print "a graph"
      if (good["cuGraphInstantiateWithFlags:"] != calls["cuGraphExecDestroy:"])
        print "an instantiated graph"
    }' "$output"
}

# fails NAME N CODE
fails() {
  case $3$1 in
    700*) named='cuda:0: ' ;;
    *cuMemcpy*) named='a copy answered' ;;
    *cuMemset*) named='a fill answered' ;;
    *) named=$1 ;;
  esac
  TN_TEST_FAULT=$named run --fail "$1:$2=$3"
  status=$?
  left=$(find_left)
  [ $status -eq 0 ] && [ -z "$left" ]
  tap_ok $? "G2 G6 S6 call $2 of $1 answers $3: $(sed -n \
    's/^# with the fault: //p' "$output")"
  [ $status -eq 0 ] || grep -v '^ok\|^EMULATED: cu' "$output" | sed 's/^/# /'
  [ -z "$left" ] || echo "# left: $left"
}

# 999 is CUDA_ERROR_UNKNOWN, 2 that there is no memory, 901 that a capture was
# spoilt, 700 that a kernel reached where it must not: the device is lost.
while read -r name before last; do
  n=$((before + 1))
  while [ $n -le "$last" ]; do
    for code in 999 2 901 700; do fails "$name" $n $code; done
    n=$((n + 1))
  done
done < "$tap_scratch/calls"
tap_done
