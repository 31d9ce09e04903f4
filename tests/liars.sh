#!/bin/sh
# Plugins that break one promise of tenon/backend.h each: `tenon conform`
# catches every one, by the rule that it breaks, and lets an honest one pass.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
seed=${TN_TEST_SEED:-1}
limit=${TN_TEST_LIMIT:-3}
echo "# seed $seed, $limit s for each test of a liar"
folder=$(cd "$top_builddir" && pwd)
TENON_BACKEND_PATH=$folder/tests/plugins/liar/.libs:$TENON_BACKEND_PATH
TENON_CPU_DEVICES=2
export TENON_BACKEND_PATH TENON_CPU_DEVICES

# `graphs` is remote with a graph table, whose nodes run in any order that
# they allow.
base_of() {
  case $1 in
    cpu) echo "$folder/backends/cpu/.libs/tenon-cpu.so" ;;
    graphs) base_of remote ;;
    *) echo "$folder/tests/plugins/$1/.libs/tenon-$1.so" ;;
  esac
}

# conform LIE BASE OPTION...: the suite on a liar.
conform() {
  lie=$1
  plugin=$(base_of "$2")
  TENON_REMOTE_GRAPHS=0
  [ "$2" != graphs ] || TENON_REMOTE_GRAPHS=1
  export TENON_REMOTE_GRAPHS
  shift 2
  TN_LIE=$lie TN_LIAR_BASE=$plugin "$tenon" conform liar --seed "$seed" "$@" \
    > "$tap_scratch/out" 2>&1
}

# caught LIE BASE TESTS
caught() {
  conform "$1" "$2" --filter "$3" --time-limit "$limit"
  status=$?
  by=$(sed -n 's/^not ok [0-9]* - \([^ ]*\) .*/\1/p' "$tap_scratch/out")
  [ $status -eq 1 ] && [ -n "$by" ]
  tap_ok $? "${3%%-*} the lie $1 is caught:$(printf ' %s' $by)"
  [ -n "$by" ] || sed 's/^/# /' "$tap_scratch/out"
}

for base in cpu remote graphs; do
  conform '' $base --time-limit 60
  tap_ok $? "X3 an honest wrapper of $base passes"
  grep -A 3 '^not ok' "$tap_scratch/out" | sed 's/^/# /'
  [ "$(tail -n 1 "$tap_scratch/out")" = 'level: full' ]
  tap_ok $? "X3 an honest wrapper of $base is of level full"
done

# Its streams are its own, its kernels the core's.
TN_LIAR_WITHOUT=launch
export TN_LIAR_WITHOUT
for base in cpu remote; do
  conform '' $base --time-limit 60
  tap_ok $? "X3 a wrapper of $base without a launch table passes"
  grep -A 3 '^not ok' "$tap_scratch/out" | sed 's/^/# /'
  grep -q '^ok [0-9]* - N1-bits [^#]*$' "$tap_scratch/out"
  tap_ok $? "X3 with kernels"
done

# Graphs without what is optional, or refused, are the core's.
for without in graph capture_after update captured_fills; do
  TN_LIAR_WITHOUT=$without
  for base in cpu graphs; do
    conform '' $base --filter G,C,S6 --time-limit 60
    tap_ok $? "G6 a wrapper of $base without $without keeps the rules"
    grep -A 3 '^not ok' "$tap_scratch/out" | sed 's/^/# /'
  done
done
unset TN_LIAR_WITHOUT

grep -v '^#' "$top_srcdir/tests/liars.txt" > "$tap_scratch/lies"
while read -r lie base tests; do
  caught "$lie" "$base" "$tests"
done < "$tap_scratch/lies"

# The table has every lie that the plugin can tell.
told=$(sed -n 's/^  { "\([a-z_]*\)", lie_.*/\1/p' \
  "$top_srcdir"/tests/plugins/liar/*.c | LC_ALL=C sort)
[ "$told" = "$(cut -d' ' -f1 "$tap_scratch/lies" | LC_ALL=C sort -u)" ]
tap_ok $? "X3 every lie of the plugin is in the list"
conform no_such_lie cpu --filter D1
[ $? -ne 0 ] && grep -q 'is no lie' "$tap_scratch/out"
tap_ok $? "X3 what is no lie is refused"
tap_done
