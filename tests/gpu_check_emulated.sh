#!/bin/sh
# The script of make gpu-check: nothing is checked without a GPU; under the
# driver double, when asked to, it runs to its end and says EMULATED throughout.
# The device tests are left to on_cuda.sh.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES TN_GPU_CHECK_EMULATED
device_tests=
export device_tests top_srcdir top_builddir
emulated=$top_builddir/tests/cudaemu/cudaemu-run

# script JSON
script() {
  $under "${SHELL:-sh}" "$top_srcdir/tests/gpu_check.sh" "$1"
}

under="env TENON_CUDA_VISIBLE_DEVICES="
script "$tap_scratch/none.json" > "$tap_scratch/none" 2>&1
status=$?
[ $status -eq 77 ] && [ "$(wc -l < "$tap_scratch/none")" -eq 1 ]
tap_ok $? "without a GPU: one line and 77: $status: $(cat "$tap_scratch/none")"

under=$emulated
script "$tap_scratch/refused.json" > "$tap_scratch/refused" 2>&1
status=$?
[ $status -eq 77 ] && [ "$(wc -l < "$tap_scratch/refused")" -eq 1 ] &&
  [ ! -e "$tap_scratch/refused.json" ]
tap_ok $? "an emulated GPU is none: $status: $(cat "$tap_scratch/refused")"

TN_GPU_CHECK_EMULATED=1
export TN_GPU_CHECK_EMULATED
script "$tap_scratch/gpu.json" > "$tap_scratch/table" 2> "$tap_scratch/errors"
status=$?
sed 's/^/# /' "$tap_scratch/table" "$tap_scratch/errors"
tap_ok $status "asked to, it runs to its end"
tap_empty "$(grep -v '^EMULATED ' "$tap_scratch/table" "$tap_scratch/errors")" \
  "every line says EMULATED"
tap_empty "$(grep -hE '[GM]B/s|FLOP|[0-9] [nu]s' "$tap_scratch/table" \
  "$tap_scratch/gpu.json")" "no figure is given"
for name in driver rules listing textstats figures; do
  grep -q "\"check\": \"$name\", \"ok\": true" "$tap_scratch/gpu.json"
  tap_ok $? "the JSON has $name"
done
[ "$(grep -c '"measured": false' "$tap_scratch/gpu.json")" -gt 8 ]
tap_ok $? "and what the bench ran"
if command -v python3 > /dev/null; then
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' \
    "$tap_scratch/gpu.json" 2> "$tap_scratch/bad"
  tap_ok $? "it is JSON"
  sed 's/^/# /' "$tap_scratch/bad"
fi
tap_done
