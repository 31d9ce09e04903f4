#!/bin/sh
# The test programs named as arguments, on cpu under valgrind: no error of
# memory, and nothing definitely lost. `make valgrind` names all of them; some
# are left out below. What the core cuts out of larger pieces is held by
# pointers into them, which valgrind calls possibly lost: not counted.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
unset TN_TEST_DEVICE TENON_DEVICE TENON_CPU_CHAOS
TN_TEST_SMALL=1
export TN_TEST_SMALL

# Long sums and many seeds, whose code the others run too; and `remote`, which
# hands an address that is none to the system on purpose.
left_out() {
  case $1 in
    tests/remote) ;;
    tests/cpu/chaos | tests/queue_chaos | tests/tensor/gradcheck | \
      tests/kernels/* | tests/ptx_* | tests/cudaemu_*) ;;
    *) return 1 ;;
  esac
}

if ! command -v valgrind >/dev/null; then
  tap_skip 'no valgrind here'
  tap_done
fi
for program in "$@"; do
  if left_out "$program"; then continue; fi
  timeout 900 "$top_builddir/libtool" --mode=execute valgrind -q \
    --error-exitcode=99 --leak-check=full --num-callers=20 \
    --show-leak-kinds=definite,indirect \
    --errors-for-leak-kinds=definite,indirect \
    "$top_builddir/$program" >"$tap_scratch/output" 2>&1
  status=$?
  tap_ok $status "valgrind $program"
  [ $status -eq 0 ] || grep -v '^ok ' "$tap_scratch/output" | sed 's/^/# /'
done
tap_done
