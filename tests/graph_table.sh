#!/bin/sh
# Graphs that run as a whole on the rehearsal backend: the tests of graphs, and
# what the core does when an entry of the graph table is missing or fails.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
TENON_REMOTE_GRAPHS=1 TN_TEST_DEVICE=remote:0
export TENON_REMOTE_GRAPHS TN_TEST_DEVICE
unset TENON_LAYERS TENON_GRAPH_CALLS TENON_LAUNCH_BLOCKING TENON_REMOTE_FAIL

# passes TEXT PROGRAM [ARGUMENT...]: every test of it.
passes() {
  text=$1
  shift
  "$top_builddir"/tests/"$@" > "$tap_scratch/output" 2>&1
  status=$?
  tap_ok $status "$text"
  [ $status -eq 0 ] || grep -v '^ok' "$tap_scratch/output" | sed 's/^/# /'
}

for seed in 1 2 3; do
  TENON_REMOTE_SEED=$seed
  export TENON_REMOTE_SEED
  for program in graph graph_path graph_random graph_size tensor/graph \
    tensor/callable; do
    passes "G6 $program, seed $seed" $program
  done
done

TENON_LAYERS=fault:entry=graph.update,n=1+,status=UNSUPPORTED \
  passes "G6 graph_random, without update" graph_random

# without ENTRY PATH TEXT: a backend that refuses the entry for good.
without() {
  TENON_LAYERS=fault:entry=graph.$1,n=1+,status=UNSUPPORTED TN_TEST_PATH=$2 \
    passes "G6 $3" graph_path
}

without update native: "without update graphs are made anew"
without capture_begin "call by call: remote:0: begin of a native capture: " \
  "a capture that the backend refuses is replayed call by call"
without capture_after 'call by call: remote:0: capture: node 0, kernel "' \
  "so is a command, which is named"
without capture_end "call by call: remote:0: making a graph of " \
  "and a graph as a whole"

# fails ENTRY PART: a failure of another kind is the capture's, or the replay's.
fails() {
  TENON_LAYERS=fault:entry=graph.$1,n=1,status=LAUNCH_FAILED \
    passes "G6 $1 fails: so does the $2" graph_path "$2"
}

fails capture_begin end
fails capture_after end
fails capture_node end
fails capture_end end
fails update replay
fails launch replay

TENON_GRAPH_CALLS=1 TN_TEST_PATH="call by call: TENON_GRAPH_CALLS is 1" \
  passes "G6 TENON_GRAPH_CALLS=1 makes all calls" graph_path
TENON_LAUNCH_BLOCKING=1 TN_TEST_PATH="call by call: TENON_LAUNCH_BLOCKING" \
  passes "G6 so does TENON_LAUNCH_BLOCKING=1" graph_path
for layer in trace:file="$tap_scratch/trace.json" race; do
  TENON_LAYERS=$layer \
    TN_TEST_PATH='call by call: backend "remote" has no graph table' \
    passes "G6 and the layer ${layer%%:*}" graph_path
done
TENON_LAYERS=trace:file=$tap_scratch/trace.json,graphs=whole \
  TN_TEST_PATH=native: passes "G6 but not with graphs=whole" graph_path

# The second and the sixth launch fail when they run.
passes "S6 a failure within a graph" graph_failure
tap_done
