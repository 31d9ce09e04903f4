#!/bin/sh
# docs/semantics.md has every rule, and where it says that a rule is kept, the
# tests it names are there and name the rule.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
page=$top_srcdir/docs/semantics.md
all='D1 D2 D3 D4 D5 D6 D7 D8 D9 D10 T1 T2 T3 T4 T5 T6 T7 T8
  S1 S2 S3 S4 S5 S6 S7 S8 M1 M2 M3 M4 M5 M6 M7 M8 P1 P2 P3 B1 B2 B3 B4 B5
  G1 G2 G3 G4 G5 G6 G7 C1 C2 C3 X1 X2 X3 X4 N1 N2 N3 N4'

# "RULE|KEPT|TESTS" of each row.
rows() {
  sed -n 's/^| \([A-Z][0-9]*\) | .* |\([^|]*\)|\([^|]*\)|$/\1|\2|\3/p' \
    "$page" | sed 's/ *| */|/g; s/ *$//'
}

same() {
  [ "$1" = "$2" ]
  tap_ok $? "$3"
}

# names RULE FILE: a text of the file begins with the rule, among others.
names() {
  grep -qE "\"([A-Z][0-9]+,? )*$1[ ,:]" "$2"
}

# The file of a test: its name is its path in tests/ without the ending.
file_of() {
  for ending in c sh; do
    [ ! -f "$top_srcdir/tests/$1.$ending" ] ||
      echo "$top_srcdir/tests/$1.$ending"
  done
}

# check RULE KEPT TESTS
check() {
  tests=$(echo "$3" | tr -d ',`')
  if [ -z "${tests# }" ]; then
    [ "$2" = "not yet" ]
    tap_ok $? "$1: a rule without a test is not yet kept"
    return
  fi
  for test in $tests; do
    file=$(file_of "$test")
    [ -n "$file" ] && names "$1" "$file"
    tap_ok $? "$1 is named by $test"
  done
  [ "$2" != "not yet" ] && [ -n "$2" ]
  tap_ok $? "$1: a rule with tests says where it is kept"
}

# The rules that a device can keep or break are known to the suite.
for rule in $(echo "$all" | tr ' ' '\n' | grep -v '^$'); do
  grep -q "^  { \"$rule\", " "$top_srcdir/conformance/suite.c"
  tap_ok $? "$rule is known to the conformance suite"
done

# Of each range on standard input one line a row: "A001-A003" is three.
each() {
  awk '{
    letter = substr($1, 1, 1)
    split($1, ends, "-")
    first = substr(ends[1], 2) + 0
    last = ends[2] ? substr(ends[2], 2) + 0 : first
    for (k = first; k <= last; k++)
      printf letter == "A" ? "A%03d\n" : "R%02d\n", k
  }'
}

# listed [STATE]: the A and R rows of the tables, of those whose state matches.
listed() {
  awk -F' *[|] *' -v state="$1" '
    $2 !~ /^[AR][0-9][0-9]/ || $4 !~ state { next }
    { n = split($2, part, /, */); for (i = 1; i <= n; i++) print part[i] }' \
    "$page" | each | sort
}

# The numbers that there are: some were never given.
numbers='A001-A035 A037-A043 A050-A072 A074-A084 A090-A124 A126-A132 A140-A150
  A160-A171 A180-A181 A183-A189 A200-A219 A221-A226 A230-A233 A235-A239
  A250-A259 A270-A274 A276-A278 A280-A292 A300-A315 A320-A329 R01-R02 R04-R08
  R10-R12 R14-R15 R17 R19-R21 R23-R24 R26 R28 R31 R33 R35 R38-R39 R41-R68'

same "$(rows | cut -d'|' -f1 | tr '\n' ' ')" "$(echo $all) " \
  "every rule has its row"
rows >"${top_builddir}/tests/semantics.rows"
while IFS='|' read -r rule kept tests; do
  check "$rule" "$kept" "$tests"
done <"${top_builddir}/tests/semantics.rows"
rm -f "${top_builddir}/tests/semantics.rows"

# Every behaviour has one row, and a test if it is kept.
wanted=$(echo $numbers | tr ' ' '\n' | each | sort)
same "$(listed)" "$wanted" \
  "every row of PyTorch's behaviours and of the reports is listed once"
tested=$(find "$top_srcdir/tests" -name '*.c' -o -name '*.sh' |
  grep -v '/semantics\.sh$' |
  xargs grep -ohE '\b(A[0-3][0-9][0-9]|R[0-9][0-9])\b' | sort -u)
tap_empty "$(listed '^(adopted|right, with tests)' | sort -u |
  while read -r row; do
    echo "$tested" | grep -qx "$row" || echo "$row"
  done)" "a test names each adopted row"
tap_done
