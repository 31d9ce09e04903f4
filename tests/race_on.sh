# What the layer `race` finds on a device, and what it must not: sourced by
# race.sh and layers_emulated.sh. $under is a command that runs programs, if any.
# shellcheck disable=SC2086 # options are words
cases=$top_builddir/tests/race_cases
streams=$top_builddir/examples/streams/streams
charlm=$top_builddir/examples/charlm/charlm
text=$top_srcdir/docs/tour.md
tiny="--text $text --steps 3 --sample 2 --batch 1 --context 4 --width 8"
tiny="$tiny --heads 2 --layers 1"
extents=

# raced COMMAND...: under the layer; sets status.
raced() {
  TENON_LAYERS=race:exit=86$extents $under "$@" >"$tap_scratch/out" \
    2>"$tap_scratch/err"
  status=$?
}

# silent TEXT COMMAND...: nothing is reported.
silent() {
  what=$1
  shift
  raced "$@"
  [ $status -eq 0 ] && ! grep -q race: "$tap_scratch/err"
  tap_ok $? "$what: nothing is found"
  [ $status -eq 0 ] || sed 's/^/# /' "$tap_scratch/err"
}

# same TEXT COMMAND...: and what is printed is the same.
same() {
  $under "$2" ${3+"$3"} ${4+"$4"} ${5+"$5"} >"$tap_scratch/wanted" 2>&1
  silent "$@"
  cmp "$tap_scratch/out" "$tap_scratch/wanted"
  tap_ok $? "$1: the same lines"
}

# found TEXT COMMAND...: something is, with two places in the program, each on
# its stream, and the memory. A host that is kept from running for long after
# it queued a copy may not come too early: then it is tried again.
found() {
  what=$1
  shift
  for try in 1 2 3; do
    raced "$@"
    [ $status -eq 86 ] && break
  done
  places=$(grep -o "$(basename "$1")[^ (]*([^)]*+0x" "$tap_scratch/err" |
    wc -l)
  [ $status -eq 86 ] && [ "$places" -ge 2 ] &&
    grep -q "race: .* on stream [0-9]* of $backend:[0-9]*, at" \
      "$tap_scratch/err"
  tap_ok $? "$what is found, both places and the stream named"
  [ $try -eq 1 ] || echo "# at try $try"
  [ $status -eq 86 ] || sed 's/^/# /' "$tap_scratch/err"
}

# race_cases_on DEVICE: the small cases.
race_cases_on() {
  TN_TEST_DEVICE=$1
  export TN_TEST_DEVICE
  for name in fill_copy copy_copy copy_fill halves host_waits freed relay \
    chain own_halves columns host_reads host_writes host_half replay_fill \
    replay_two replay_freed function_reads function_writes function_bytes; do
    silent "$1: $name, right" "$cases" $name right
    found "$1: $name, wrong" "$cases" $name wrong
  done
  silent "$1: host_function, right" "$cases" host_function right
  $under "$cases" mine right 2>"$tap_scratch/err" || {
    tap_skip "$1: $(head -1 "$tap_scratch/err")"
    return
  }
  silent "$1: mine, wrong, but nothing is known of it" "$cases" mine wrong
  echo 'mine/mark *=n # all of them' >"$tap_scratch/extents"
  extents=,extents=$tap_scratch/extents
  silent "$1: mine, right" "$cases" mine right
  found "$1: mine, wrong, its extents told," "$cases" mine wrong
  extents=
}

# race_streams_on DEVICE: each form of examples/streams.
race_streams_on() {
  for name in side join event rewrite record source double early; do
    silent "$1: $name, right" "$streams" $name --right --device "$1"
    found "$1: $name, wrong" "$streams" $name --wrong --device "$1"
  done
}

# race_programs_on DEVICE: what is right.
race_programs_on() {
  same "$1: textstats" "$top_builddir/examples/textstats" "$text" --device "$1"
  for way in '' --graph --callable; do
    $under "$charlm" $tiny $way --device "$1" >"$tap_scratch/wanted"
    silent "$1: charlm $way" "$charlm" $tiny $way --device "$1"
    cmp "$tap_scratch/out" "$tap_scratch/wanted"
    tap_ok $? "$1: charlm $way: the same lines"
  done
}

# race_on DEVICE
race_on() {
  backend=${1%:*}
  race_cases_on "$1"
  race_streams_on "$1"
  race_programs_on "$1"
}
