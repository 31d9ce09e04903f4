#!/bin/sh
# The layers on emulated GPUs: as on other devices.
# shellcheck disable=SC2086 # options are words
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES TENON_DEVICE
unset TENON_LAYERS
# The double would find races, too, and end the program.
under="$top_builddir/tests/cudaemu/cudaemu-run --devices 2 --no-races"
. "$top_srcdir/tests/race_on.sh"

race_on cuda:0
silent "cuda:0: devices, right" "$streams" devices --right --device cuda:0
found "cuda:0: devices, wrong" "$streams" devices --wrong --device cuda:0

$under "$charlm" $tiny --device cuda:0 >"$tap_scratch/wanted"
# traced OPTION LAYER_OPTIONS: charlm with it.
trace=$tap_scratch/trace.json
traced() {
  TENON_LAYERS=trace:file=$trace$2 $under "$charlm" $tiny $1 --device cuda:0 \
    >"$tap_scratch/out" && cmp "$tap_scratch/out" "$tap_scratch/wanted"
  tap_ok $? "cuda:0: charlm $1 traced$2: the same lines"
  python3 -c 'import json' 2>/dev/null || {
    tap_skip "no python3, which reads the trace"
    return
  }
  said=$(python3 "$top_srcdir/tests/trace_check.py" "$trace" 2>&1)
  [ $? -eq 0 ] && [ -z "$(echo "$said" | grep -v '^#')" ]
  tap_ok $? "cuda:0: its trace: valid JSON, spans nest, flows match"
  echo "$said" | sed 's/^/# /'
}

# events TEXT: how many the trace has.
events() {
  grep -o "$1" "$trace" | wc -l
}

# The first of the three steps is not of the graph.
traced
traced --graph ,graphs=whole
kernels=$(events '"cat":"kernel"')
[ "$(events '"cat":"kernel","name":"graph"')" -eq 2 ] &&
  [ "$(events '"name":"graph.launch"')" -eq 2 ]
tap_ok $? "cuda:0: graph as a whole: a launch and a run for each of 2 replays"
traced --graph ,graphs=nodes
[ "$(events '"cat":"kernel"')" -gt $((kernels + 2 * 50)) ] &&
  [ "$(events '"name":"graph')" -eq 0 ]
tap_ok $? "cuda:0: graph by its nodes: kernels in its place"

TENON_LAYERS=fault:entry=launch.launch,n=1000000,status=LAUNCH_FAILED \
  $under "$charlm" $tiny --device cuda:0 >"$tap_scratch/out" &&
  cmp "$tap_scratch/out" "$tap_scratch/wanted"
tap_ok $? "cuda:0: charlm with a fault to come: the same lines"
for entry in copy.copy launch.module_load launch.launch stream.create; do
  said=$(TENON_LAYERS=fault:entry=$entry,n=1+,status=OUT_OF_MEMORY \
    $under "$charlm" $tiny --device cuda:0 2>&1 >/dev/null)
  [ $? -ne 0 ]
  tap_ok $? "cuda:0: charlm ends when $entry fails"
  tap_has "$said" "the fault layer fails call" "cuda:0: $entry: and says so"
done

# graph_fault ENTRY STATUS [LATE]: of charlm --graph, whose graph is native.
graph_fault() {
  said=$(TENON_LAYERS=fault:entry=graph.$1,n=1+,status=$2${3:+,late=yes} \
    TENON_LOG=info $under "$charlm" $tiny --graph --device cuda:0 2>&1 \
    >"$tap_scratch/out")
  status=$?
}

for entry in capture_begin capture_after capture_node capture_end launch \
  update; do
  graph_fault $entry OUT_OF_MEMORY
  [ $status -ne 0 ]
  tap_ok $? "cuda:0: charlm --graph ends when graph.$entry fails"
  tap_has "$said" "the fault layer fails call" "cuda:0: $entry: and says so"
done
graph_fault launch LAUNCH_FAILED late
[ $status -ne 0 ]
tap_ok $? "cuda:0: charlm --graph ends when the run of a graph fails"
tap_has "$said" "queued work: the fault layer fails call" "cuda:0: and says so"
for entry in capture_begin capture_after capture_node capture_end update; do
  graph_fault $entry UNSUPPORTED
  [ $status -eq 0 ] && cmp "$tap_scratch/out" "$tap_scratch/wanted"
  tap_ok $? "cuda:0: charlm --graph where graph.$entry cannot: the same lines"
  case $entry in
    update) how="made anew for other arguments: " ;;
    *) how="replayed call by call: " ;;
  esac
  case $said in *"$how"*"the fault layer fails call 1 of graph.$entry"*) ;;
    *) false ;;
  esac
  tap_ok $? "cuda:0: and the log says why"
done
tap_done
