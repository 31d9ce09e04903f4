#!/bin/sh
# make gpu-check: what has to be seen on a real GPU, as a table, and as JSON in
# gpu-check.json. Exit status: 0 all is well, 1 something is not, 77 there is no
# GPU. An emulated device counts as none, unless TN_GPU_CHECK_EMULATED=1, which
# tries this script itself; every line then says EMULATED.
: "${top_srcdir:=.}" "${top_builddir:=.}"
tenon=$top_builddir/tools/tenon
TN_TEST_DEVICE=cuda:0
export TN_TEST_DEVICE
line=$("$tenon" devices 2>&1 | grep '^cuda')
case $line in
  cuda:0*Emulated*)
    label=EMULATED
    [ "${TN_GPU_CHECK_EMULATED:-}" = 1 ] || {
      echo 'gpu-check: cuda:0 is emulated: nothing is checked'
      exit 77
    } ;;
  cuda:0*) label=GPU ;;
  *)
    echo "gpu-check: no GPU here: ${line:-the cuda backend was not built}"
    exit 77 ;;
esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
rows=

# row NAME STATUS SECONDS TEXT
row() {
  result=ok
  [ "$2" -eq 0 ] || { result=FAILED; failed=1; }
  printf '%-8s %-7s %-24s %4s s  %s\n' "$label" "$result" "$1" "$3" "$4"
  rows="$rows${rows:+,}
    {\"check\": \"$1\", \"ok\": $([ "$2" -eq 0 ] && echo true || echo false),"
  rows="$rows \"seconds\": $3, \"text\": \"$4\"}"
}

# check NAME COMMAND...: a test program; its failures follow the line.
check() {
  name=$1
  shift
  start=$(date +%s)
  timeout 120 "$@" > "$scratch/out" 2> "$scratch/err"
  status=$?
  good=$(grep -c '^ok' "$scratch/out")
  bad=$(grep -c '^not ok' "$scratch/out")
  row "$name" $status $(($(date +%s) - start)) "$good passed, $bad failed"
  [ $status -eq 0 ] || grep -hA2 '^not ok' "$scratch/out" "$scratch/err"
}

echo "$line"
for program in ${device_tests:-}; do
  check "$(basename "$program")" "$top_builddir/$program"
done

# The rules that the driver double imitates: "not ok" is a DIFFER.
check rules env TN_STRICT_REAL=1 "$top_builddir/tests/cudaemu_strict"

start=$(date +%s)
for device in cpu cuda:0; do
  timeout 120 "$top_builddir/examples/textstats" "$top_srcdir/README.md" \
    --device $device > "$scratch/text.$device" 2>&1
done
cmp -s "$scratch/text.cpu" "$scratch/text.cuda:0"
row textstats $? $(($(date +%s) - start)) 'the same bytes as on cpu'

printf '{\n  "schema_version": 1,\n  "label": "%s",\n  "checks": [%s\n  ]\n}\n' \
  "$label" "$rows" > "$top_builddir/gpu-check.json"
exit $failed
