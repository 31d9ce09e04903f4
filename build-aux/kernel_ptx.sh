#!/bin/sh
# The built-in kernels as PTX: kernels/ptx/NAME.ptx.
#   build-aux/kernel_ptx.sh [SOURCE FOLDER]         makes them with nvcc
#   build-aux/kernel_ptx.sh --check [SOURCE FOLDER] compares: 0 the same,
#     1 different, 77 no nvcc, or another one than made them
# NAMES limits either to these families.
# nvcc writes the .version it knows, which older drivers refuse; the files say
# the lowest one that ptxas accepts for them. NVCC and PTXAS choose programs.
set -u
check=0
[ "${1:-}" = --check ] && { check=1; shift; }
source=${1:-$(dirname "$0")/..}
nvcc=${NVCC:-$(command -v nvcc)}
ptxas=${PTXAS:-$(command -v ptxas)}
target=sm_75
versions='6.3 6.4 6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4
  8.5 8.6 8.7 8.8 9.0'

if [ -z "$nvcc" ] || [ -z "$ptxas" ]; then
  echo 'kernel_ptx.sh: nvcc and ptxas are needed' >&2
  exit 77
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# make NAME: $scratch/NAME.ptx of the source of that name
make_one() {
  "$nvcc" -ptx -fmad=false "-arch=$target" -x cu -I"$source/include" \
    -o "$scratch/raw" "$source/kernels/$1.c" || return 1
  for version in $versions; do
    sed "s/^\.version .*/.version $version/" "$scratch/raw" \
      > "$scratch/$1.ptx"
    "$ptxas" -O0 "-arch=$target" -o /dev/null "$scratch/$1.ptx" \
      2>"$scratch/said" && return 0
  done
  cat "$scratch/said" >&2
  return 1
}

# The line by which nvcc tells itself.
maker() {
  sed -n 's/^\/\/ Cuda compilation tools, //p' "$1"
}

names=${NAMES:-}
[ -n "$names" ] || names=$(cd "$source/kernels" && ls *.c | sed 's/\.c$//')
status=0
for name in $names; do
  make_one "$name" || exit 1
  file=$source/kernels/ptx/$name.ptx
  if [ $check = 0 ]; then
    mkdir -p "$source/kernels/ptx" && cp "$scratch/$name.ptx" "$file" || exit 1
  elif [ -e "$file" ] && [ "$(maker "$file")" != "$(maker "$scratch/raw")" ]
  then
    echo "$name: made by $(maker "$file"), here is $(maker "$scratch/raw")"
    exit 77
  elif ! cmp -s "$scratch/$name.ptx" "$file"; then
    echo "$name: kernels/ptx/$name.ptx is not what nvcc makes of it now"
    status=1
  fi
done
exit $status
