#!/bin/sh
# The kernels' texts, flattened, need no other file: the host compiler takes
# them, and so does nvcc where there is one. Messages name the right lines.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
flatten() {
  ${AWK:-awk} -v include="$top_srcdir/include" \
    -f "$top_srcdir/build-aux/flatten.awk" "$1"
}

for source in "$top_srcdir"/kernels/*.c; do
  name=$(basename "$source" .c)
  flatten "$source" > "$tap_scratch/$name.c"
  tap_empty "$(grep -E '^#include [<"](tenon/|[a-z_]*\.h")' \
    "$tap_scratch/$name.c")" "$name: no include of ours is left"
  said=$(cd "$tap_scratch" && ${CC:-cc} -std=c11 -fsyntax-only "$name.c" 2>&1) &&
    said=
  tap_empty "$said" "$name: compiles alone with ${CC:-cc}"
done

printf '#include <tenon/kernel_math.h>\nint a;\nint wrong line;\n' \
  > "$tap_scratch/bad.c"
flatten "$tap_scratch/bad.c" > "$tap_scratch/flat.c"
tap_has "$(${CC:-cc} -fsyntax-only "$tap_scratch/flat.c" 2>&1)" "bad.c:3:" \
  "messages name the file and line that was written"
tap_has "$(flatten "$tap_scratch/absent.c" 2>&1)" "cannot be read" \
  "a missing file is an error"

nvcc=${NVCC:-$(command -v nvcc)}
for source in "$top_srcdir"/kernels/*.c; do
  name=$(basename "$source" .c)
  if [ -z "$nvcc" ]; then
    tap_skip "$name: no nvcc here"
    continue
  fi
  said=$("$nvcc" -ptx -fmad=false -arch=sm_75 -x cu "$tap_scratch/$name.c" \
    -o "$tap_scratch/$name.ptx" 2>&1) && said=
  tap_empty "$said" "$name: compiles with nvcc"
  [ "$(grep -c '\.visible \.entry' "$tap_scratch/$name.ptx")" -eq \
    "$(grep -c 'tn_signature_[a-z0-9_]*\[' "$tap_scratch/$name.ptx")" ]
  tap_ok $? "$name: every kernel has its signature in the PTX"
  tap_empty "$(grep -E '\.ftz|\.approx|fma\.[a-z]+\.ftz|mad\.f32' \
    "$tap_scratch/$name.ptx")" "$name: nothing flushed or approximated"
  case $name in
  *f64) ;;
  *) tap_empty "$(grep -E '\.f64' "$tap_scratch/$name.ptx")" \
    "$name: no double in it" ;;
  esac
done
tap_done
