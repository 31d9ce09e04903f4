#!/bin/sh
# The cpu backend under chaos: the tests of streams, memory and copies, the
# conformance suite and textstats, with seeds 1 to 3, or to 20 with TN_TEST_FULL.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
unset TENON_DEVICE TENON_CPU_CHAOS TN_TEST_DEVICE
seeds='1 2 3'
[ -z "$TN_TEST_FULL" ] || seeds="$seeds 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"

# with_seeds TEXT COMMAND...: it succeeds with every seed.
with_seeds() {
  text=$1
  shift
  for seed in $seeds; do
    TENON_CPU_CHAOS=$seed "$@" >"$tap_scratch/out" 2>"$tap_scratch/err" ||
      { sed "s/^/# seed $seed: /" "$tap_scratch/out" "$tap_scratch/err"
        break; }
    seed=
  done
  tap_empty "$seed" "$text with the seeds $seeds"
}

for test in $device_tests; do
  case $test in
    tests/stream | tests/event | tests/stream_guard | tests/copy | \
      tests/fill | tests/memory | tests/pinned_traffic | tests/graph | \
      tests/kernel | tests/leaving | tests/crowd | \
      tests/tensor/backward_stream | tests/tensor/callable | \
      tests/tensor/graph | tests/tensor/graphed_step | \
      tests/tensor/shared_weight)
      with_seeds "S1 $test" "$top_builddir/$test" ;;
  esac
done
with_seeds "S2 tests/queue_chaos" "$top_builddir/tests/queue_chaos"
with_seeds "S5 tests/cpu/stream" "$top_builddir/tests/cpu/stream"
TENON_NO_MEMORY_CACHING=1
export TENON_NO_MEMORY_CACHING
with_seeds "M8 tests/queue_chaos, without caching," \
  "$top_builddir/tests/queue_chaos"
unset TENON_NO_MEMORY_CACHING

# The suite reaches the level that it reaches without.
level=$("$top_builddir/tools/tenon" conform cpu 2>/dev/null | tail -n 1)
conform() {
  "$top_builddir/tools/tenon" conform cpu &&
    [ "$(tail -n 1 "$tap_scratch/out")" = "$level" ]
}
case $level in
  "level: streams" | "level: graphs" | "level: full")
    with_seeds "S1 tenon conform cpu ($level)" conform ;;
  *) tap_empty "without chaos: $level" "S1 tenon conform cpu" ;;
esac

textstats() {
  "$top_builddir/examples/textstats" "$tap_scratch/noise" &&
    cmp -s "$tap_scratch/out" "$tap_scratch/wanted"
}
"$top_builddir/tests/textstats_reference" make noise 9000000 \
  >"$tap_scratch/noise"
"$top_builddir/examples/textstats" "$tap_scratch/noise" >"$tap_scratch/wanted"
with_seeds "S2 textstats" textstats
[ "$(grep -c 'TENON_CPU_CHAOS=' "$tap_scratch/err")" -eq 1 ]
tap_ok $? "S2 the seed is in the log, once"
tap_done
