#!/bin/sh
# tenon conform: the suite passes on the backends of the build, and what it
# prints is what its man page says.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
folder=$(cd "$top_builddir" && pwd)
crash=$folder/tests/plugins/crash/.libs
out=$tap_scratch/out

# run STATUS TEXT OPTION...: the suite ends with that status.
run() {
  wanted=$1
  text=$2
  shift 2
  "$tenon" conform "$@" > "$out" 2> "$tap_scratch/err"
  status=$?
  [ $status -eq "$wanted" ]
  tap_ok $? "$text"
  [ $status -eq "$wanted" ] || {
    echo "# status $status; $(cat "$tap_scratch/err")"
    grep -A 4 '^not ok' "$out" | sed 's/^/# /'
  }
}

has() {
  grep -q -- "$1" "$out"
  tap_ok $? "$2"
}

# complains PART TEXT: nothing but one line on standard error.
complains() {
  [ ! -s "$out" ] && [ "$(wc -l < "$tap_scratch/err")" -eq 1 ] &&
    grep -q "^tenon: conform: $1" "$tap_scratch/err"
  tap_ok $? "$2"
}

level() {
  [ "$(tail -n 1 "$out")" = "level: $1" ]
  tap_ok $? "X3 the last line says level $1"
}

# The plan, the lines and the numbers agree.
is_tap() {
  awk '/^1\.\./ { plan = substr($0, 4) + 0 }
    /^(not )?ok / { n++; k = $1 == "ok" ? $2 : $3; if (k != n) bad = 1 }
    END { exit !(plan == n && n > 0 && !bad) }' "$out"
  tap_ok $? "X3 $1: TAP with a plan that is kept"
}

TENON_CPU_DEVICES=4 run 0 'X3 the suite passes on cpu:2 of four' cpu:2 --table
level full
is_tap cpu:2
! grep -q '^# [A-Z][0-9]* .*left out' "$out"
tap_ok $? 'X3 each rule is tried on all that it concerns, or a reason given'
run 0 'X3 the suite passes on cpu alone' cpu --seed 7 --json "$out.json" --table
level full
has '# SKIP absent: a second device of cpu' 'X3 a device alone is told'
has '^# cpu:0: absent: a second device of cpu ([0-9]* tests)' \
  'X3 and how many tests it keeps from running'
has '^# S1 ' 'X3 the table has a row for each rule'
! awk '/^# rule/ { on = 1; n = NF; next } /^# \. / { on = 0 }
  on && /^# [A-Z][0-9]/ { gsub(/left out|FAIL |known /, "x");
    if (NF != n) print }' "$out" | grep -q .
tap_ok $? 'X3 no cell of the table is empty'
if command -v python3 > /dev/null; then
  python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
assert r["schema"] == "tenon-conform" and r["seed"] == 7 and r["passed"]
d, = r["devices"]
assert d["device"] == "cpu:0" and d["level"] == "full"
assert sum(d["counts"].values()) == len(d["tests"]) > 200
assert sum(a["tests"] for a in d["absent"]) == d["counts"]["absent"] > 0
for t in d["tests"]:
    assert t["outcome"] in ("pass", "absent") and t["features"]
' "$out.json" 2> "$tap_scratch/err"
  tap_ok $? 'X3 the JSON says the same'
else
  tap_skip 'no python3 to read the JSON'
fi
run 0 'X3 the suite passes on remote' remote:0
level full
has 'SKIP absent: host functions' 'X3 what remote lacks is absent, not passed'

run 0 "S6 work that fails is told of" cpu --filter S6
! grep -q 'SKIP' "$out"
tap_ok $? 'S6 on a backend that cannot be asked to fail'
TENON_BACKEND_PATH=$folder/backends/cpu/.libs \
  run 0 'S6 also without the layer that makes it fail' cpu --filter S6
has 'SKIP absent: the layer "fault"' 'S6 which is then absent'

# Known failures, those that are none, and those of no test.
printf '# a list\nS1-order: it is slow\n' > "$tap_scratch/list"
run 1 'X3 a known failure that passes is a failure' cpu --filter S1-order \
  --known "$tap_scratch/list"
has 'is listed as known to fail: it is slow' 'X3 and says so'
printf 'S1-nothing no such test\n' > "$tap_scratch/list"
run 1 'X3 a known failure that is no test is one' cpu \
  --known "$tap_scratch/list"
has '^not ok .* S1-nothing is listed' 'X3 and says so'
printf 'S1-order\n' > "$tap_scratch/list"
run 2 'X3 a known failure needs a reason' cpu --known "$tap_scratch/list"

# A plugin by its file, with a list beside it.
mkdir "$tap_scratch/own"
cp "$folder/tests/plugins/liar/.libs/tenon-liar.so" "$tap_scratch/own"
TN_LIAR_BASE=$folder/backends/cpu/.libs/tenon-cpu.so TENON_CPU_DEVICES=2
export TN_LIAR_BASE TENON_CPU_DEVICES
run 0 'X3 a plugin is tried by its file, all devices' --all --filter D7,D1 \
  --plugin "$tap_scratch/own/tenon-liar.so"
has 'D1-grammar liar:1:' 'X3 with the second one'
printf 'S5-elapsed times are short\n' > "$tap_scratch/own/tenon-liar.known"
TN_LIE=elapsed_seconds run 0 'X3 a known failure is none' \
  --filter S5-elapsed --plugin "$tap_scratch/own/tenon-liar.so"
has '^not ok 1 - S5-elapsed .*# TODO times are short' 'X3 but a TODO'
TN_LIE=elapsed_seconds run 0 'X3 also in the whole suite' \
  --plugin "$tap_scratch/own/tenon-liar.so"
level launch
rm "$tap_scratch/own/tenon-liar.known"

# Crashes and hangs are failures, and end nothing else.
TN_LIE=pinned_elsewhere run 1 'X2 a crash is one failure' \
  --filter P1-apart,P3 --plugin "$tap_scratch/own/tenon-liar.so"
has '# ended by signal 11' 'X2 named by its signal'
has '^ok 2 - P3' 'X2 and the next test runs'
TN_LIE=shutdown_hangs run 1 'X2 a hang is one failure' --time-limit 2 \
  --filter M4 --plugin "$tap_scratch/own/tenon-liar.so"
has '# no end within 2 s' 'X2 named by its limit'
for way in crash leave; do
  run 1 "X2 a plugin that cannot start ($way) is one line" \
    --plugin "$crash/tenon-$way.so" --time-limit 5
  complains "$way:0: " 'X2 which names the device'
done

run 1 'D2 a device that is not there' cpu:77
complains 'cpu:77: .*no such device' 'D2 is named'
run 2 'X3 neither device nor plugin' --all
run 2 'X3 an unknown rule' cpu --filter Z9
run 2 'X3 a seed that is no number' cpu --seed x
run 2 'X3 a limit that is none' cpu --time-limit 0
complains '--time-limit "0": not a number of seconds' 'X3 it is named'
for path in "$tap_scratch/none/x.json" "$tap_scratch"; do
  run 1 'X3 a report to a place that is none' cpu --filter D1 --json "$path"
  complains "--json \"$path\": " 'X3 is told before the first test'
done
run 1 'X3 a report to a full disk' cpu --filter D1 --json /dev/full
grep -q '^tenon: conform: --json "/dev/full": No space' "$tap_scratch/err"
tap_ok $? 'X3 is told at the end'
run 2 'X3 a rule of two lines' cpu --filter "$(printf 'Z\n9')"
complains '--filter "Z 9": ' 'X3 is complained of in one'
run 2 'X3 a file that is no plugin' --plugin "$top_srcdir/COPYING"
tap_done
