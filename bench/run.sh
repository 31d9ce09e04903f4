#!/bin/sh
# Runs all benches and joins their JSON: run.sh BUILDDIR OUT.json [FILTER]
set -u
build=$1 out=$2 filter=${3-}
parts=$build/bench/parts
rm -rf "$parts"
mkdir -p "$parts"
missed=0
section ()
{
  name=$1
  shift
  echo "== $name"
  "$@" || missed=1
}
bench=$build/bench
section start "$bench/start" "$1/bench/$TINY" "$parts/1-start.json" "$filter"
section core "$bench/core" "$parts/2-core.json" "$filter"
libraries="$build/$OBJECTS/libtenon.so $bench/$OBJECTS/plain.so"
libraries="$libraries $build/backends/cpu/$OBJECTS/tenon-cpu.so"
# shellcheck disable=SC2086 # words
section layers env -u TENON_LAYERS "$bench/layers" $libraries \
  "$parts/2-layers.json" "$filter"
# shellcheck disable=SC2086 # words
section "layers, trace" env TENON_LAYERS=trace:file="$parts/trace" \
  BENCH_LAYERS="$build/layers/$OBJECTS" \
  "$bench/layers" $libraries "$parts/2-trace.json" "$filter"
rm -f "$parts/trace"
for threads in 1 2
do
  section "kernels, $threads" env TENON_NUM_THREADS=$threads \
    "$bench/kernels" "$parts/3-kernels-$threads.json" "$filter"
done
# The kernels that OpenBLAS chooses by itself, whatever the machine's settings
# say: they would halve the peer's products. A processor that is younger than
# the library gets the oldest; then the best that it can run are named.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
core=$(OPENBLAS_VERBOSE=2 "$bench/tensor" /dev/null nothing 2>&1 |
  sed -n 's/^Core: //p')
has_flag () { grep -q "^flags.* $1 " /proc/cpuinfo; }
if test "$core" = Prescott && has_flag avx2
then
  core=HASWELL
  has_flag avx512f && core=SKYLAKEX
  export OPENBLAS_CORETYPE=$core
fi
test -z "$core" || echo "== OpenBLAS, beside tensors: $core"
# It does not ask libtorch how many threads it may have.
for threads in 1 2
do
  section "tensors, $threads" env OPENBLAS_NUM_THREADS=$threads \
    TENON_NUM_THREADS=$threads "$bench/tensor" \
    "$parts/3-tensor-$threads.json" "$filter"
done
if test -x "$bench/opencl"
then
  section opencl env POCL_DEVICES=basic "$bench/opencl" \
    "$parts/4-opencl.json" "$filter"
fi
if test -x "$bench/cuda"
then
  section cuda "$bench/cuda" "$parts/5-cuda.json" "$filter"
fi
{
  printf '{"machine": "%s", "date": "%s", "rows": [\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
    "$(date -u +%Y-%m-%d)"
  sed -e '/^\[$/d' -e '/^\]$/d' -e '/^$/d' -e 's/}$/},/' "$parts"/*.json |
    sed '$ s/,$//' | sed 's/},,$/},/'
  printf ']}\n'
} > "$out"
echo "written: $out"
exit $missed
