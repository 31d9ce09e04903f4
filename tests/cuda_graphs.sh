#!/bin/sh
# Graphs of the cuda plugin on the driver double: native ones, drivers that lack
# a call or refuse it, and whether what the driver does is what the core
# promises.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES TENON_GRAPH_CALLS
unset TENON_LAUNCH_BLOCKING TENON_LAYERS
emulated=$top_builddir/tests/cudaemu/cudaemu-run
TN_TEST_DEVICE=cuda:0
export TN_TEST_DEVICE

# passes TEXT OPTIONS ARGUMENT...: every test of $program.
program=graph_path
passes() {
  text=$1 options=$2
  shift 2
  # shellcheck disable=SC2086 # options are words
  "$emulated" --devices 1 $options "$top_builddir/tests/$program" "$@" \
    > "$tap_scratch/output" 2>&1
  status=$?
  tap_ok $status "$text"
  [ $status -eq 0 ] || grep -v '^ok' "$tap_scratch/output" | sed 's/^/# /'
}

for seed in 1 2 3 4 5; do
  passes "G6 graphs run as a whole, seed $seed" "--seed $seed"
done
program=graph_size
for seed in 0 1 2; do
  passes "G1 G3 large graphs, seed $seed" "--seed $seed"
done
program=graph_path
for driver in 12.0 12.4 13.0; do
  passes "G6 with a driver for CUDA $driver" "--driver $driver"
done

for call in StreamBeginCapture StreamEndCapture StreamGetCaptureInfo \
  StreamUpdateCaptureDependencies LaunchHostFunc GraphInstantiateWithFlags \
  GraphLaunch GraphExecKernelNodeSetParams GraphExecDestroy GraphDestroy; do
  TN_TEST_PATH='call by call: cuda:0: begin of a native capture: the driver l' \
    passes "G6 a driver without cu$call: call by call" "--without cu$call"
done

# 999 is CUDA_ERROR_UNKNOWN, 2 that there is no memory: then the library gives
# cached memory back and tries again.
for call in StreamBeginCapture StreamEndCapture StreamGetCaptureInfo \
  StreamUpdateCaptureDependencies GraphInstantiateWithFlags; do
  passes "G6 cu$call fails: so does the end of the capture" \
    "--fail cu$call:1=999" end
done
passes "G6 no memory to instantiate: it is tried again" \
  "--fail cuGraphInstantiateWithFlags:1=2"
for call in GraphLaunch GraphExecKernelNodeSetParams; do
  passes "G6 cu$call fails: so does the replay" "--fail cu$call:1=999" replay
done
for code in 1 801 910; do
  passes "G5 G6 an update is refused with $code: the graph is made anew" \
    "--fail cuGraphExecKernelNodeSetParams:1=$code"
done
TENON_GRAPH_CALLS=1 TN_TEST_PATH="call by call: TENON_GRAPH_CALLS is 1" \
  passes "G6 TENON_GRAPH_CALLS=1 makes all calls" ""

# Random programs; whatever is not ordered ends the process.
program=graph_random TN_TEST_SMALL=1
export TN_TEST_SMALL
for seed in 1 2 3 4 5 6; do
  for calls in 0 1; do
    TENON_GRAPH_CALLS=$calls TN_TEST_SEED=$seed \
      passes "G1 G3 G6 random programs $seed, TENON_GRAPH_CALLS=$calls" \
      "--seed $seed"
  done
done
tap_done
