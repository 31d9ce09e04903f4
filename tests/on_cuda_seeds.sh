#!/bin/sh
# The cuda backend on emulated GPUs: the same bytes as on the cpu, drivers new
# and old, calls that fail, and tests of streams with other delays.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES TENON_DEVICE
emulated=$top_builddir/tests/cudaemu/cudaemu-run
textstats=$top_builddir/examples/textstats
tenon=$top_builddir/tools/tenon

# listed TEXT PART OPTION...: "tenon devices" says so.
listed() {
  text=$1
  part=$2
  shift 2
  tap_has "$("$emulated" "$@" "$tenon" devices 2>&1 | tr -s ' ')" "$part" \
    "D2 $text"
}

# same NAME OPTION...: a file's statistics on cuda:0 and cpu.
same() {
  name=$1
  shift
  "$textstats" "$tap_scratch/$name" --device cpu > "$tap_scratch/cpu" 2>&1 &&
    "$emulated" "$@" "$textstats" "$tap_scratch/$name" --device cuda:0 \
      > "$tap_scratch/cuda" 2>&1 &&
    cmp "$tap_scratch/cpu" "$tap_scratch/cuda"
  status=$?
  tap_ok $status "N1 textstats of $name on cuda:0: the same bytes${*:+ ($*)}"
  [ $status -eq 0 ] || sed 's/^/# /' "$tap_scratch/cuda"
}

listed 'two devices' 'cuda:1 Emulated GPU' --devices 2
listed 'driver 12.0' 'CUDA driver 12.0' --driver 12.0
listed 'driver 13.0' 'CUDA driver 13.0' --driver 13.0
listed 'driver 11.8 is refused' \
  'CUDA 11.8; CUDA 12.0 (driver 525) or later is needed' --driver 11.8
listed 'no device' 'the driver has no device' --devices 0
listed 'a device too old' 'compute capability 7.0: 7.5 or later is needed' \
  --capability 7.0
listed 'a driver that fails' 'cuInit answered CUDA_ERROR_UNKNOWN (999' \
  --nvml none --fail cuInit:1=999

reference=$top_builddir/tests/textstats_reference
for file in noise.1 words.1000 ramp.65537 noise.300001; do
  "$reference" make "${file%.*}" "${file#*.}" > "$tap_scratch/$file"
  same "$file"
done
same noise.300001 --driver 13.0 --capability 9.0 --seed 7 --no-peers

# fails TEXT PART OPTION...: textstats ends with an error that says so.
fails() {
  text=$1
  part=$2
  shift 2
  "$emulated" "$@" "$textstats" "$tap_scratch/words.1000" --device cuda:0 \
    > "$tap_scratch/out" 2>&1
  status=$?
  [ $status -ne 0 ] && grep -q "$part" "$tap_scratch/out"
  tap_ok $? "S6 $text"
  [ $status -ne 0 ] || tap_empty "status 0" "S6 $text is an error"
}
fails 'memory that cannot be had' 'no memory for 4194304 bytes' --memory 1000000
fails 'a launch that is refused' CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES \
  --fail cuLaunchKernel:1=701
fails 'a kernel that fails' CUDA_ERROR_ILLEGAL_ADDRESS \
  --fail 'cuLaunchKernel:1~700'

seeds='2 3 4 5 6 7 8 9 10 11'
for test in stream event stream_guard queue_chaos copy; do
  for seed in $seeds; do
    TN_TEST_DEVICE=cuda:0 "$emulated" --seed "$seed" \
      "$top_builddir/tests/$test" > "$tap_scratch/out" 2>&1 ||
      { sed "s/^/# seed $seed: /" "$tap_scratch/out"; break; }
    seed=
  done
  [ -z "$seed" ]
  tap_ok $? "S5 $test with the seeds $seeds"
done
tap_done
