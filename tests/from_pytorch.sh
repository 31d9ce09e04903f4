#!/bin/sh
# Every row of docs/from-pytorch.md compiles and runs, and gives what its line
# of PyTorch gives, where PyTorch is there.
. "${top_srcdir:=.}/tests/tap.sh"
. "$top_srcdir/tests/python/environment.sh"
page=$top_srcdir/docs/from-pytorch.md
rows=$tap_scratch/rows

LC_ALL=C awk -v rows="$rows" -f "$top_srcdir/tests/from_pytorch.awk" "$page" \
  >"$tap_scratch/rows.c"
count=$(wc -l <"$rows")
[ "$count" -ge 150 ]
tap_ok $? "the page has $count rows"
said=$(${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Wno-unused \
  -Wno-unused-value "-I$top_srcdir" "-I$top_srcdir/include" \
  "-I$top_builddir/include" "$tap_scratch/rows.c" -o "$tap_scratch/program" \
  "-L$TENON_LIBRARIES" -ltenon-tensor -ltenon -lm 2>&1) && said=
tap_empty "$said" "the program of the page compiles"
LD_LIBRARY_PATH=$TENON_LIBRARIES${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
  "$tap_scratch/program" >"$tap_scratch/results" 2>"$tap_scratch/errors"
tap_ok $? "and runs"
grep -v '^tensor\|^  *\[' "$tap_scratch/errors" | sed 's/^/# /'

if [ -n "${TN_TORCH_PYTHON-}" ]; then
  $TN_TORCH_PYTHON "$top_srcdir/tests/oracle/page.py" "$page" "$rows" \
    "$tap_scratch/results" >"$tap_scratch/checked" 2>&1
else
  sed 's/^\([0-9]*\) failed: /\1 wrong: /; t
    s/^\([0-9]*\) .*/\1 runs/' "$tap_scratch/results" >"$tap_scratch/checked"
  tap_skip "no python with PyTorch here to compare with (python3-torch)"
fi
while IFS='	' read -r number theirs ours; do
  verdict=$(sed -n "s/^$number //p" "$tap_scratch/checked")
  case $verdict in
  same | runs) tap_ok 0 "$theirs" ;;
  *)
    tap_ok 1 "$theirs"
    echo "# $ours: ${verdict:-does not run}"
    ;;
  esac
done <"$rows"
grep -v '^[0-9]' "$tap_scratch/checked" | sed 's/^/# /'
tap_done
