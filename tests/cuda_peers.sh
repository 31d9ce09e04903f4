#!/bin/sh
# Devices of which some can access some others' memory, in one direction or in
# both (rules S3, T3).
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER TENON_CUDA_VISIBLE_DEVICES
emulated=$top_builddir/tests/cudaemu/cudaemu-run

# pairs PAIRS EXPECTED TEXT: all of the program's tests pass.
pairs() {
  "$emulated" --devices 3 --peers "$1" "$top_builddir/tests/cuda_peer" \
    all "$2" > "$tap_scratch/out" 2>&1
  status=$?
  [ $status -eq 0 ] || sed 's/^/# /' "$tap_scratch/out"
  tap_ok $status "S3 T3 $3: $(grep -c '^ok' "$tap_scratch/out") checks"
}
pairs all 01,02,10,12,20,21 'all pairs'
pairs none 'nothing' 'none'
pairs '0-1' 01,10 'one pair'
pairs '0>1' 01 'one direction'
pairs '0>1,1-2,2>0' 01,12,21,20 'a ring with a chord'
CUDA_VISIBLE_DEVICES=2,0,1
export CUDA_VISIBLE_DEVICES
pairs '0>1' 12 'one direction of boards that are numbered anew'
unset CUDA_VISIBLE_DEVICES

# wrong PAIRS FROM TO TEXT: the kernel is stopped, and named; the double says
# why.
wrong() {
  "$emulated" --devices 3 --peers "$1" "$top_builddir/tests/cuda_peer" \
    wrong "$2" "$3" > "$tap_scratch/out" 2>&1
  tap_ok $? "T3 $4: the device is lost"
  tap_has "$(cat "$tap_scratch/out")" 'kernel "axpy_f32": CUDA_ERROR_ILLEGAL' \
    'T3 naming the kernel'
  tap_has "$(cat "$tap_scratch/out")" \
    "memory of device $3, to which device $2 has no peer access" \
    'T3 and the double says why'
}
wrong all 0 1 'access that was not enabled'
wrong '1>0' 0 1 'access of the other one'
wrong '1-2' 0 2 'access that cannot be'

"$emulated" --peers 0+1 "$top_builddir/tools/tenon" devices \
  > "$tap_scratch/out" 2>&1
tap_has "$(cat "$tap_scratch/out")" 'TENON_CUDAEMU_PEERS is "0+1"' \
  'pairs that make no sense are refused'
tap_done
