#!/bin/sh
# The form of the sources: columns, lengths, names, tabs; no test waits by
# sleeping.
. "${top_srcdir:=.}/tests/tap.sh"
script=$(cd "$top_srcdir" && pwd)/tests/style.awk
tap_folder

# Our C files under a root, as names relative to it.
sources() {
  (cd "$1" && find core include backends layers kernels tensor conformance tools \
    examples bench tests -name '*.[ch]' -not -path '*/scratch.*' \
    2>/dev/null | LC_ALL=C sort)
}

form() {
  (cd "$1" && sources . | xargs awk -f "$script" /dev/null)
}

# Files called after nothing in particular.
names() {
  sources "$1" | grep -E '(/|_)(utils?|common|misc|helpers?)([_./]|$)'
}

# The calls that wait for time to pass. tests/plugins/crash.c hangs on
# purpose.
sleeps() {
  (cd "$1" && grep -nE \
    '(^|[^a-z_])(sleep|usleep|nanosleep|clock_nanosleep|thrd_sleep) *\(' \
    $(sources . | grep '^tests/' | grep -v '^tests/plugins/crash\.c$') \
    /dev/null
  find tests -name '*.sh' | xargs grep -nE '^[^#]*(^|[ ;])sleep [0-9]' \
    /dev/null)
}

# caught FILE CHECK TEXT: $planted as that file is found wrong.
caught() {
  mkdir -p "$(dirname "$tap_scratch/$1")"
  printf '%s\n' "$planted" > "$tap_scratch/$1"
  tap_has "$($2 "$tap_scratch")" "$1" "$3"
  rm "$tap_scratch/$1"
}

tap_empty "$(form "$top_srcdir")" "columns, tabs, lengths"
tap_empty "$(names "$top_srcdir")" "files are called after a noun"
tap_empty "$(sleeps "$top_srcdir")" "no test waits by sleeping"

mkdir -p "$tap_scratch/tests"
planted=$(printf '%081d' 0)
caught core/a.c form "81 columns are caught"
planted=$(printf 'int\ta;')
caught core/a.h form "a tab is caught"
planted='int a; '
caught core/a.h form "space at the end is caught"
planted='/* TO''DO */'
caught tools/a.c form "unfinished work is caught"
planted="int f(void)
{
$(yes '  g();' | head -n 99)
}"
caught core/a.c form "a function of 101 lines is caught"
planted=$(yes 'int a;' | head -n 1001)
caught core/a.c form "1001 lines are caught"
planted='int a;'
caught core/misc.c names "misc is caught"
caught core/string_utils.h names "utils is caught"
planted='  usleep(10);'
caught tests/a.c sleeps "a sleep is caught"
planted='x; sl''eep 1'
caught tests/a.sh sleeps "a shell's too"

lengths=$(cd "$top_srcdir" && sources . | xargs awk -v lengths=1 -f "$script" |
  sort -n)
median=$(echo "$lengths" | awk '{ l[NR] = $1 } END { print l[int(NR / 2) + 1] }')
echo "# functions: $(echo "$lengths" | wc -l), median $median lines," \
  "over 50: $(echo "$lengths" | awk '$1 > 50' | wc -l)"
echo "$lengths" | tail -n 5 | sed 's/^/# longest: /'
[ "$median" -le 15 ]
tap_ok $? "the median function has $median lines, at most 15"
tap_done
