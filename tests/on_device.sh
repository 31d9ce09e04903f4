# Runs the tests that take a device on the one in $device, by way of the command
# in $under if there is one: sourced by on_NAME.sh. Each test program's lines
# are passed on under new numbers, with its name before them; a program that
# dies, or whose plan is not kept, fails.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
TN_TEST_DEVICE=$device
export TN_TEST_DEVICE
tap_folder

# pass_on PROGRAM STATUS: the lines of $tap_scratch/output, and what is wrong.
pass_on() {
  awk -v name="$(basename "$1")" -v status="$2" -v count="$tap_count" '
    /^(not )?ok / {
      seen++
      failed += /^not / && !/# TODO/
      result = /^not / ? "not ok" : "ok"
      sub(/^(not )?ok [0-9]*( -)? ?/, "")
      print result " " ++count " - " name ": " $0
      next
    }
    /^1\.\.0/ { print "ok " ++count " # SKIP " name ": " $0; skipped = 1 }
    /^1\.\./ { planned = substr($1, 4) }
    { print "# " $0 }
    END {
      if (!skipped && planned == seen && (failed || status == 0)) exit
      if (skipped && status == 0) exit
      print "not ok " ++count " - " name ": " seen + 0 " of " planned + 0 \
        " tests, exit status " status
    }' "$tap_scratch/output" > "$tap_scratch/passed"
  cat "$tap_scratch/passed"
  tap_count=$((tap_count + $(grep -cE '^(not )?ok ' "$tap_scratch/passed")))
  if grep '^not ok ' "$tap_scratch/passed" | grep -vq '# TODO'; then
    tap_failed=1
  fi
}

for program in $device_tests; do
  # shellcheck disable=SC2086 # words
  $under "$top_builddir/$program" > "$tap_scratch/output" \
    2> "$tap_scratch/errors"
  status=$?
  pass_on "$program" $status
  sed 's/^/# /' "$tap_scratch/errors"
done
[ -n "$device_tests" ] || tap_skip "no test takes a device"
tap_done
