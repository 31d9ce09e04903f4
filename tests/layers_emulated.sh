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
trace=$tap_scratch/trace.json
TENON_LAYERS=trace:file=$trace $under "$charlm" $tiny --device cuda:0 \
  >"$tap_scratch/out" && cmp "$tap_scratch/out" "$tap_scratch/wanted"
tap_ok $? "cuda:0: charlm traced: the same lines"
if python3 -c 'import json' 2>/dev/null; then
  said=$(python3 "$top_srcdir/tests/trace_check.py" "$trace" 2>&1)
  [ $? -eq 0 ] && [ -z "$(echo "$said" | grep -v '^#')" ]
  tap_ok $? "cuda:0: its trace: valid JSON, spans nest, flows match"
  echo "$said" | sed 's/^/# /'
else
  tap_skip "no python3, which reads the trace"
fi

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
tap_done
