#!/bin/sh
# Programs on the least backend there can be, and how it is told that the core
# supplies what it lacks (X3).
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
examples=$top_builddir/examples
tenon=$top_builddir/tools/tenon
text=$top_srcdir/docs/tour.md
unset TENON_DEVICE TENON_LOG
out=$tap_scratch/out err=$tap_scratch/err
said='template: the backend has no launch table'

# same TEXT COMMAND...: the same on template as on cpu, but for the device's
# name, and one line of the log.
same() {
  what=$1
  shift
  "$@" --device cpu:0 2>/dev/null | grep -v 'cpu:0' >"$tap_scratch/wanted"
  "$@" --device template:0 >"$tap_scratch/all" 2>"$err"
  status=$?
  grep -v 'template:0' "$tap_scratch/all" >"$out"
  [ $status -eq 0 ] && [ -s "$out" ] && cmp "$out" "$tap_scratch/wanted"
  tap_ok $? "$what"
  [ "$(wc -l <"$err")" -eq 1 ] && grep -q "warning: $said" "$err"
  tap_ok $? "X3 the log says once who runs its kernels"
  sed 's/^/# /' "$err"
}

same "D1 textstats prints what it prints on cpu" \
  "$examples/textstats" "$top_srcdir/README.md"
same "N1 charlm trains on it as on cpu" "$examples/charlm/charlm" \
  --text "$text" --steps 3 --sample 2 --batch 2 --context 8 --width 16 \
  --heads 2 --layers 1

"$tenon" devices >"$out" 2>"$err"
grep -A 3 '^template:0 ' "$out" >"$tap_scratch/row"
grep -q 'core supplies launch: kernels run on the cpu' "$tap_scratch/row"
tap_ok $? "X3 tenon devices says it always"
grep -q 'core supplies synchronous streams' "$tap_scratch/row"
tap_ok $? "X3 and who makes its streams"
"$tenon" devices --json | tr -d ' \n' |
  grep -q '"supplied_by_core":\["launch","stream"\]'
tap_ok $? "X3 in JSON, too"

TENON_LOG=error "$tenon" conform template:0 >"$out" 2>"$err" &&
  [ "$(tail -n 1 "$out")" = 'level: minimal' ]
tap_ok $? "X3 it passes the conformance suite, at level minimal"
grep -A 3 '^not ok' "$out" | sed 's/^/# /'
grep -q '^ok [0-9]* - N1-[a-z_]* [^#]*$' "$out"
tap_ok $? "X3 with kernels, which the core runs"

# Without a cpu backend.
plugin=
for folder in $(echo "$TENON_BACKEND_PATH" | tr ':' ' '); do
  [ ! -e "$folder/tenon-template.so" ] || plugin=$folder/tenon-template.so
done
# The library of the build tree looks for others beside itself, too.
TENON_CPU_VISIBLE_DEVICES='' "$examples/textstats" "$top_srcdir/README.md" \
  --device template:0 >"$out" 2>"$err"
[ $? -ne 0 ] && [ "$(wc -l <"$err")" -eq 1 ]
tap_ok $? "X3 without a device of cpu: one line"
tap_has "$(cat "$err")" 'backend "template" has no launch table, and the cpu' \
  "that says what is missing"
TENON_BACKEND_PATH=$plugin "$examples/textstats" "$top_srcdir/README.md" \
  --device template:0 >"$out" 2>"$err"
[ $? -ne 0 ]
tap_ok $? "X3 nor does anything run without the backend"
tap_has "$(cat "$err")" 'backend "template" has no launch table, and the cpu' \
  "D4 which is said, too"

# A template that is longer than this is none.
[ "$(wc -l <"$top_srcdir/backends/template/template.c")" -lt 150 ]
tap_ok $? "the template has less than 150 lines"
tap_done
