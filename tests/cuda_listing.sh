#!/bin/sh
# Listing cuda devices does not initialise the driver in the process that asks,
# with NVIDIA's management library and without it, and is right about them
# (rules D7, D8, D9).
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER TENON_CUDA_VISIBLE_DEVICES
unset TENON_DEVICE
emulated=$top_builddir/tests/cudaemu/cudaemu-run
program=$top_builddir/tests/cuda_list

# lists TEXT BOARDS OPTION...: all of the program's tests pass.
lists() {
  text=$1
  boards=$2
  shift 2
  "$emulated" --devices 3 "$@" "$program" list "$boards" \
    > "$tap_scratch/out" 2>&1
  status=$?
  sed 's/^/# /' "$tap_scratch/out"
  tap_ok $status "D8 D9 $text"
}

lists 'NVML' 012
lists 'no NVML' 012 --nvml none
lists 'NVML of another version' 012 --nvml mismatch
lists 'NVML that lost a board' 012 --nvml lost
lists 'a divided board' 012 --nvml mig
lists 'NVML that does not know of cores' 012 --nvml old
lists 'a newer device' 012 --capability 9.0
lists 'boards that are not alike: the driver numbers them' 120 --mixed
lists 'the same without NVML' 120 --mixed --nvml none
CUDA_DEVICE_ORDER=PCI_BUS_ID
export CUDA_DEVICE_ORDER
lists 'by place' 012 --mixed
unset CUDA_DEVICE_ORDER
CUDA_VISIBLE_DEVICES=2,0
export CUDA_VISIBLE_DEVICES
lists 'CUDA_VISIBLE_DEVICES=2,0' 20
lists 'CUDA_VISIBLE_DEVICES=2,0 without NVML' 20 --nvml none
lists 'CUDA_VISIBLE_DEVICES=2,0 of boards that are not alike' 01 --mixed
CUDA_VISIBLE_DEVICES=GPU-454d554c-4154-4544-2d47-50552d303002
lists 'CUDA_VISIBLE_DEVICES with a uuid' 2 --mixed

# Both variables count: ours picks from what the driver's lets through.
CUDA_VISIBLE_DEVICES=2,0
TENON_CUDA_VISIBLE_DEVICES=1
export TENON_CUDA_VISIBLE_DEVICES
for nvml in works none; do
  "$emulated" --devices 3 --nvml $nvml "$program" list 0 \
    > "$tap_scratch/out" 2>&1
  tap_ok $? "D7 A292 the second of CUDA_VISIBLE_DEVICES=2,0, NVML $nvml"
done
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES

# Which calls are made.
calls() {
  "$emulated" --trace "$@" "$top_builddir/tools/tenon" devices \
    > "$tap_scratch/out" 2>&1
}
calls
grep -q 'EMULATED: nvmlInit_v2: 0' "$tap_scratch/out" &&
  ! grep -q 'EMULATED: cuInit' "$tap_scratch/out"
tap_ok $? "D8 with NVML, listing makes no call of cuInit"
calls --nvml none
[ "$(grep -c 'EMULATED: cuInit' "$tap_scratch/out")" -eq 1 ]
tap_ok $? "D8 without it, one, in a child"
calls --nvml mismatch --fail cuInit:1=803
grep -q 'cuInit answered CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803' \
  "$tap_scratch/out"
tap_ok $? "D2 versions that do not fit are told in the driver's words"

# used TEXT PART ORDINAL OPTION...: using it fails with such a message.
used() {
  text=$1
  part=$2
  ordinal=$3
  shift 3
  "$emulated" "$@" "$program" use "$ordinal" > "$tap_scratch/out" 2>&1
  status=$?
  [ $status -eq 1 ] || tap_ok 1 "status $status, not 1"
  tap_has "$(cat "$tap_scratch/out")" "$part" "D2 $text"
}
used 'NVML shows fewer boards than the driver' 'cuda has 1 device (cuda:0)' 1 \
  --nvml fewer
"$emulated" --nvml fewer "$program" use 0 > "$tap_scratch/out" 2>&1
tap_ok $? "D2 those that it shows can be used"
used 'a driver that fails where NVML works' \
  'cuInit answered CUDA_ERROR_UNKNOWN (999' 0 --fail cuInit:1=999
CUDA_DEVICE_ORDER=PCI_BUS_ID
export CUDA_DEVICE_ORDER
used 'a driver that numbers boards otherwise than it was asked to' \
  'but the driver has' 0 --mixed --order-ignored
tap_done
