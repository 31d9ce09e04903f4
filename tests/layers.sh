#!/bin/sh
# No include goes upward: public headers (in their own order) < base < device
# < exec < memory < copy < launch < graph. Everything else sees public headers
# and its own folder; backends see tenon/backend.h alone.
. "${top_srcdir:=.}/tests/tap.sh"
script=$(cd "$top_srcdir" && pwd)/tests/layers.awk
tap_folder

# check ROOT: the violations in a tree.
check() {
  (cd "$1" &&
    find include core backends layers kernels tensor conformance tools \
      examples \
      -name '*.[ch]' 2>/dev/null | LC_ALL=C sort |
    xargs awk -f "$script" /dev/null)
}

# caught FILE INCLUDE TEXT: a file with that line is found wrong.
caught() {
  mkdir -p "$tap_scratch/$(dirname "$1")"
  echo "#include $2" > "$tap_scratch/$1"
  found=$(check "$tap_scratch")
  tap_has "$found" "$1:1: includes" "$3"
  rm "$tap_scratch/$1"
}

allowed() {
  mkdir -p "$tap_scratch/$(dirname "$1")"
  echo "#include $2" > "$tap_scratch/$1"
  tap_empty "$(check "$tap_scratch")" "$3"
  rm "$tap_scratch/$1"
}

files=$(cd "$top_srcdir" && find core backends -name '*.[ch]' | wc -l)
[ "$files" -gt 10 ]
tap_ok $? "there are files to look at: $files in core and backends"
tap_empty "$(check "$top_srcdir")" "no include goes upward"

caught core/base/a.c '"core/device/b.h"' "base including device is caught"
caught core/exec/a.h '"core/memory/b.h"' "exec including memory is caught"
caught core/copy/a.c '"backends/cpu/b.h"' "core including a backend is caught"
caught core/copy/a.c '"tools/b.h"' "core including a tool is caught"
caught include/tenon/stream.h '"tenon/memory.h"' \
  "a public header including a later one is caught"
caught include/tenon/backend.h '"tenon/device.h"' \
  "backend.h including device.h is caught"
caught include/tenon/device.h '"core/base/error.h"' \
  "a public header including a private one is caught"
caught backends/cpu/a.c '"core/base/error.h"' \
  "a backend including the core is caught"
caught backends/cpu/a.c '"backends/opencl/b.h"' \
  "a backend including another is caught"
caught backends/cpu/a.c '<tenon/memory.h>' \
  "a backend including a user header is caught"
caught backends/listing/a.c '"backends/cpu/b.h"' \
  "what several backends are made of including one is caught"
caught kernels/a.c '"core/base/error.h"' "a kernel including core is caught"
caught tensor/a.c '"core/base/error.h"' "tensor including core is caught"
caught tensor/tensor/a.c '"tensor/ops/b.h"' \
  "tensors including operations is caught"
caught tensor/autograd/a.c '"tensor/ops/b.h"' \
  "gradients including operations is caught"
caught tools/a.c '"core/base/error.h"' "a tool including core is caught"

allowed core/launch/a.c '"core/base/error.h"' "downward is allowed"
allowed core/base/a.c '"b.h"' "the same folder is allowed"
allowed backends/cpu/a.c '"backends/cpu/b.h"' "a backend may include itself"
allowed backends/cpu/a.c '"backends/listing/b.h"' \
  "a backend may include what several are made of"
allowed backends/cpu/a.c '<tenon/kernel_lang.h>' \
  "a backend may include the kernel language"
allowed core/base/a.c '<stdio.h>' "the system's headers are allowed"
tap_done
