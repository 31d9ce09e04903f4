#!/bin/sh
# Drivers of several versions: what each is asked for and has, and that the cuda
# backend takes 12.0 and later and refuses 11.8 with the reason (rules D2, D4).
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER TENON_CUDA_VISIBLE_DEVICES
unset TENON_DEVICE
emulated=$top_builddir/tests/cudaemu/cudaemu-run

# asked VERSION: what the driver answers.
asked() {
  "$emulated" --driver "$1" "$top_builddir/tests/cuda_symbol" \
    cuMemAlloc:3020 cuMemAlloc:2000 cuFuncLoad:12040 cuMemAlloc:13010 \
    cuNothing:11000 > "$tap_scratch/out" 2>&1
  tap_ok $? "driver $1 answers"
}

# says LINE
says() {
  grep -qxF "$1" "$tap_scratch/out"
  status=$?
  tap_ok $status "$1"
  [ $status -eq 0 ] || sed 's/^/# /' "$tap_scratch/out"
}

asked 11.8
says 'version 11080'
says 'cuGetProcAddress_v2: absent'
says 'cuMemAlloc:3020: code 0, status -1, there'
says 'cuMemAlloc:2000: code 500, status -1, NULL'
says 'cuFuncLoad:12040: code 1, status -1, not written'
says 'cuNothing:11000: code 500, status -1, NULL'
asked 12.0
says 'version 12000'
says 'cuGetProcAddress_v2: there'
says 'cuMemAlloc:3020: code 0, status 0, there'
says 'cuMemAlloc:2000: code 0, status 2, NULL'
says 'cuFuncLoad:12040: code 1, status -1, not written'
says 'cuNothing:11000: code 0, status 1, NULL'
asked 12.4
says 'version 12040'
says 'cuFuncLoad:12040: code 0, status 0, there'
asked 13.0
says 'version 13000'
says 'cuMemAlloc:13010: code 1, status -1, not written'

printf 'some words, and some more words\n' > "$tap_scratch/text"
textstats=$top_builddir/examples/textstats
"$textstats" "$tap_scratch/text" --device cpu > "$tap_scratch/cpu" 2>&1
for version in 12.0 12.4 13.0; do
  "$emulated" --driver $version "$textstats" "$tap_scratch/text" \
    --device cuda:0 > "$tap_scratch/cuda" 2>&1 &&
    cmp "$tap_scratch/cpu" "$tap_scratch/cuda"
  tap_ok $? "N1 driver $version: the same bytes as on cpu"
done

reason='the NVIDIA driver is for CUDA 11.8; CUDA 12.0 (driver 525) or later is'
"$emulated" --driver 11.8 "$textstats" "$tap_scratch/text" --device cuda:0 \
  > "$tap_scratch/out" 2>&1
[ $? -eq 1 ]
tap_ok $? "D4 driver 11.8: cuda:0 is an error"
tap_has "$(cat "$tap_scratch/out")" "$reason" "D2 with the reason"
"$emulated" --driver 11.8 "$textstats" "$tap_scratch/text" --device auto \
  > "$tap_scratch/out" 2>&1 && cmp "$tap_scratch/cpu" "$tap_scratch/out"
tap_ok $? "D5 and auto goes elsewhere"
"$emulated" --driver 11.8 --nvml none "$top_builddir/tools/tenon" devices \
  > "$tap_scratch/out" 2>&1
tap_ok $? "D2 tenon devices goes on"
tap_has "$(cat "$tap_scratch/out")" "$reason" "D2 and lists the reason"
TENON_CUDAEMU_DRIVER=11.8 LD_LIBRARY_PATH=$top_builddir/tests/cudaemu/.libs \
  "$top_builddir/tests/cuda_symbol" > "$tap_scratch/out" 2>&1
[ $? -eq 99 ]
tap_ok $? "a driver is not made old by its setting alone"
tap_done
