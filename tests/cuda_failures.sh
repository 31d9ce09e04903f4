#!/bin/sh
# Queued work that fails is told by the next call, a later one, or the one that
# waits, as the driver likes: the seed decides. Always the device is lost, and
# the kernel named (rule S6).
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER TENON_CUDA_VISIBLE_DEVICES
unset TENON_LAUNCH_BLOCKING
emulated=$top_builddir/tests/cudaemu/cudaemu-run
program=$top_builddir/tests/cuda_late
seeds='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20'

# told BUSY [graph]: the program with all seeds; who told is appended to the
# file.
told() {
  for seed in $seeds; do
    "$emulated" --devices 1 --seed "$seed" "$program" "$@" \
      > "$tap_scratch/out" 2>&1 || {
      sed "s/^/# seed $seed: /" "$tap_scratch/out"
      return 1
    }
    sed -n 's/^# told by call //p' "$tap_scratch/out" >> "$tap_scratch/told"
  done
}

told 0
tap_ok $? "S6 a kernel that fails, with the seeds $seeds"
told 1
tap_ok $? "S6 the same with work on other streams"
told 0 graph
tap_ok $? "S6 and of a graph that runs as a whole"
told 1 graph
tap_ok $? "S6 and that with work on other streams"
sort -n "$tap_scratch/told" | uniq -c | sed 's/^/# times, call: /'
# Of 80: some at once, some late, some only by who waits (call 16).
[ "$(sort -u "$tap_scratch/told" | wc -l)" -ge 4 ]
tap_ok $? "they were told by different calls"
grep -qx 16 "$tap_scratch/told"
tap_ok $? "sometimes only by the one that waits"

for seed in 1 2 3 4 5; do
  TENON_LAUNCH_BLOCKING=1 "$emulated" --devices 1 --seed $seed "$program" 1 \
    > "$tap_scratch/out" 2>&1 || break
  TENON_LAUNCH_BLOCKING=1 "$emulated" --devices 1 --seed $seed "$program" 1 \
    graph > "$tap_scratch/out" 2>&1 || break
  seed=
done
[ -z "$seed" ]
tap_ok $? "S4 a launch that blocks is told of its own failure, by any seed"
[ -z "$seed" ] || sed 's/^/# /' "$tap_scratch/out"

"$emulated" --fail 'cuLaunchKernel:1~2' "$program" 0 > "$tap_scratch/out" 2>&1
tap_has "$(cat "$tap_scratch/out")" 'queued work does not fail with 2' \
  'what queued work cannot fail with is refused'
tap_done
