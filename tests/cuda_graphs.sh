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

# passes TEXT OPTIONS ARGUMENT...: every test of graph_path.
passes() {
  text=$1 options=$2
  shift 2
  # shellcheck disable=SC2086 # options are words
  "$emulated" --devices 1 $options "$top_builddir/tests/graph_path" "$@" \
    > "$tap_scratch/output" 2>&1
  status=$?
  tap_ok $status "$text"
  [ $status -eq 0 ] || grep -v '^ok' "$tap_scratch/output" | sed 's/^/# /'
}

for seed in 1 2 3 4 5; do
  passes "G6 graphs run as a whole, seed $seed" "--seed $seed"
done
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
TENON_GRAPH_CALLS=1 TN_TEST_PATH="call by call: TENON_GRAPH_CALLS is 1" \
  passes "G6 TENON_GRAPH_CALLS=1 makes all calls" ""
tap_done
