#!/bin/sh
# make gpu-check: what has to be seen on a real GPU, as a table, and as JSON in
# gpu-check.json (or the file named). Exit status: 0 all is well, 1 something is
# not, 77 there is no GPU. An emulated device counts as none, unless
# TN_GPU_CHECK_EMULATED=1, which tries this script itself: then every line says
# EMULATED, and nothing is measured.
: "${top_srcdir:=.}" "${top_builddir:=.}"
json=${1:-$top_builddir/gpu-check.json}
TN_TEST_DEVICE=cuda:0
export TN_TEST_DEVICE
line=$("$top_builddir/tools/tenon" devices 2>&1 | grep '^cuda')
case $line in
  cuda:0*Emulated*)
    label=EMULATED size=--small
    [ "${TN_GPU_CHECK_EMULATED:-}" = 1 ] || {
      echo 'gpu-check: cuda:0 is emulated: nothing is checked'
      exit 77
    } ;;
  cuda:0*) label=GPU size= ;;
  *)
    echo "gpu-check: no GPU here: ${line:-the cuda backend was not built}"
    exit 77 ;;
esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
rows=
deadline=$(($(date +%s) + 540)) # of everything; each has two minutes at most

# say: lines of the input after the label.
say() {
  sed "s/^\($label *\)\{0,1\}/$(printf '%-8s' $label) /"
}

# quote TEXT: as it stands in JSON.
quote() {
  printf '%s' "$1" | tr '\n\t' '  ' | sed 's/[\\"]/\\&/g'
}

# row NAME STATUS SECONDS TEXT
row() {
  result=ok good=true
  [ "$2" -eq 0 ] || { result=FAILED good=false failed=1; }
  printf '%-7s %-20s %4s s  %s\n' "$result" "$1" "$3" "$4" | say
  rows="$rows${rows:+,}
    {\"check\": \"$1\", \"ok\": $good, \"seconds\": $3,"
  rows="$rows \"text\": \"$(quote "$4")\"}"
}

# measure COMMAND...: its status and how long it took.
measure() {
  start=$(date +%s)
  limit=$((deadline - start))
  [ $limit -le 120 ] || limit=120
  [ $limit -ge 1 ] || limit=1
  timeout $limit "$@" > "$scratch/out" 2> "$scratch/err"
  status=$?
  seconds=$(($(date +%s) - start))
}

# check NAME COMMAND...: a test program; its failures follow the line.
check() {
  name=$1
  shift
  measure "$@"
  text="$(grep -c '^ok' "$scratch/out") passed,"
  text="$text $(grep -c '^not ok' "$scratch/out") failed"
  case $status in 124) text="$text, not ended after $limit s" ;; esac
  row "$name" $status $seconds "$text"
  [ $status -eq 0 ] || {
    grep -A2 '^not ok' "$scratch/out"
    tail -n 5 "$scratch/err"
  } | say
}

echo "$line" | say
check driver "$top_builddir/tests/gpu_driver" "$top_srcdir"/kernels/ptx/*.ptx

# The rules that the driver double imitates: "not ok" is a DIFFER.
if [ $label = GPU ]; then
  TN_STRICT_REAL=1
  export TN_STRICT_REAL
fi
export top_builddir
check rules "${SHELL:-sh}" "$top_srcdir/tests/cudaemu_strict.sh"
cat "$scratch/out" > "$scratch/rules"
unset TN_STRICT_REAL

# What is listed before the first use, without the driver, against the driver;
# and what a fork does to both.
check listing "$top_builddir/tests/cuda_list" facts all
cat "$scratch/out" >> "$scratch/rules"
differ=$(sed -n 's/^not ok.*DIFFER: //p' "$scratch/rules" |
  sed 's/[\\"]/\\&/g; s/.*/"&"/' | paste -sd, -)

# The kernels, bit for bit against the reference, are one of them.
for program in ${device_tests:-}; do
  check "$(basename "$program")" "$top_builddir/$program"
done

for device in cpu cuda:0; do
  measure "$top_builddir/examples/textstats" "$top_srcdir/README.md" \
    --device $device
  [ $status -eq 0 ] || break
  mv "$scratch/out" "$scratch/text.$device"
done
[ $status -ne 0 ] || {
  cmp "$scratch/text.cpu" "$scratch/text.cuda:0" > "$scratch/err" 2>&1
  status=$?
}
text='the same bytes as on cpu'
[ $status -eq 0 ] || text="$device: $(tail -n 1 "$scratch/err")"
row textstats $status $seconds "$text"

# Every figure beside its limit; 1 means that a goal was missed.
# shellcheck disable=SC2086 # no option is no word
measure "$top_builddir/bench/cuda" $size "$scratch/figures"
[ $status -ne 0 ] || grep -q '"case"' "$scratch/figures" || status=2
case $status in
  0) text='all goals met' ;;
  1) text="$(grep -c ' MISS ' "$scratch/out") goals missed" ;;
  *) text="exit status $status: $(tail -n 1 "$scratch/err")" ;;
esac
[ "$label$status" != EMULATED0 ] || text='the bench ran, nothing was measured'
row figures $status $seconds "$text"
say < "$scratch/out"

{
  printf '{\n  "schema_version": 2,\n  "label": "%s",\n' $label
  printf '  "device": "%s",\n  "checks": [%s\n  ],\n' "$(quote "$line")" "$rows"
  printf '  "differ": [%s],\n  "figures":\n' "$differ"
  if [ $status -le 1 ]; then cat "$scratch/figures"; else echo '[]'; fi
  echo '}'
} > "$json"
exit $failed
