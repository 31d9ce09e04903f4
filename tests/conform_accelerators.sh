#!/bin/sh
# The conformance suite on opencl, and on two emulated GPUs.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
emulated=$top_builddir/tests/cudaemu/cudaemu-run
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES TENON_DEVICE

# passes LEVEL NAME COMMAND...
passes() {
  level=$1
  name=$2
  shift 2
  "$@" > "$tap_scratch/out" 2> "$tap_scratch/err"
  tap_ok $? "X3 the suite passes on $name"
  grep -A 4 '^not ok' "$tap_scratch/out" | sed 's/^/# /'
  [ "$(tail -n 1 "$tap_scratch/out")" = "level: $level" ]
  tap_ok $? "X3 $name is of level $level"
  echo "# absent: $(grep -c 'SKIP absent' "$tap_scratch/out")"
}

if [ -f "$top_builddir/backends/opencl/.libs/tenon-opencl.so" ] &&
  "$tenon" devices | grep -q '^opencl:0 '; then
  passes full opencl:0 "$tenon" conform opencl:0
  grep -q '^ok [0-9]* - D8-listing [^#]*$' "$tap_scratch/out"
  tap_ok $? "D8 listing opencl spoils no fork"
else
  tap_skip 'there is no OpenCL device'
fi
if [ -f "$top_builddir/backends/cuda/.libs/tenon-cuda.so" ]; then
  echo '# EMULATED'
  for device in cuda:0 cuda:1; do
    passes full $device "$emulated" --devices 2 "$tenon" conform $device
  done
else
  tap_skip 'the cuda backend is not built'
fi
tap_done
