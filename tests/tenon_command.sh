#!/bin/sh
# The tenon command: what it prints, in text and JSON, that it says the same as
# its man pages, and that plugins which crash or hang are only lines of it.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
man=$top_srcdir/docs/man
crash=$top_builddir/tests/plugins/crash/.libs

# run COMMAND...: sets out, err and rc.
run() {
  "$@" >"$tap_scratch/out" 2>"$tap_scratch/err"
  rc=$?
  out=$(cat "$tap_scratch/out")
  err=$(cat "$tap_scratch/err")
}

# exits_with STATUS TEXT
exits_with() {
  [ "$rc" -eq "$1" ]
  tap_ok $? "$2"
  [ "$rc" -eq "$1" ] || echo "# exit status $rc; $err"
}

# is_json TEXT: of the last output.
is_json() {
  if command -v python3 >/dev/null; then
    python3 -m json.tool "$tap_scratch/out" >"$tap_scratch/tool" 2>&1
    tap_ok $? "$1 is JSON"
  else
    awk '{ opened += gsub(/[[{]/, ""); closed += gsub(/[]}]/, "") }
         END { exit !(NR > 3 && opened == closed) }' "$tap_scratch/out"
    tap_ok $? "$1 looks like JSON (no python3 to parse it)"
  fi
}

usage_error() {
  run "$tenon" "$@"
  [ "$rc" -eq 2 ] && [ -z "$out" ] && [ "$(wc -l <"$tap_scratch/err")" -eq 1 ]
  tap_ok $? "tenon $*: one line, exit status 2"
  echo "# $err"
}

# Words of the form --name, sorted, in the order they are documented with.
help_options() {
  "$tenon" "$@" --help | sed -n 's/^  \(--[a-z]*\).*/\1/p' | sort
}
man_options() {
  sed -n 's/^\.It Fl \\-\([a-z]*\).*/--\1/p' "$1" | sort
}
same() {
  [ "$1" = "$2" ]
  tap_ok $? "$3"
  [ "$1" = "$2" ] || echo "# \"$1\" differs from \"$2\"" | tr '\n' ' '
}

version_and_help() {
  run "$tenon" version
  exits_with 0 "tenon version"
  tap_has "$out" "(plugin interface " "it names the plugin interface"
  same "$out" "$("$tenon" --version)" "tenon --version says the same"
  run "$tenon" --help
  exits_with 0 "tenon --help"
  same "$(echo "$out" | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')" \
    "$(sed -n 's/^\.It Cm //p' "$man/tenon.1")" \
    "tenon.1 lists the commands of --help"
  same "$(echo "$out" | sed -n 's/^  \(--[a-z]*\).*/\1/p' | sort)" \
    "$(man_options "$man/tenon.1")" "tenon.1 lists the options of --help"
  for command in conform devices doctor new-backend; do
    same "$(help_options $command)" "$(man_options "$man/tenon-$command.1")" \
      "tenon-$command.1 lists the options of --help"
  done
  run "$tenon" version --help
  exits_with 0 "tenon version --help"
}

man_pages() {
  if command -v mandoc >/dev/null; then
    # Pages refer to each other before they are installed.
    tap_empty "$(mandoc -Tlint "$man"/* |
      grep -v 'referenced manual not found')" "man pages are clean"
  else
    tap_skip "no mandoc here"
  fi
}

usage() {
  usage_error
  usage_error frobnicate
  usage_error new-backend
  usage_error new-backend Upper
  usage_error new-backend two-words
  usage_error new-backend cpu
  usage_error new-backend ""
  usage_error new-backend abcdefghijklmnopqrstuvwxyzabcdef
  usage_error new-backend mine folder more
  usage_error --frobnicate
  usage_error devices --jsn
  usage_error devices extra
  usage_error version --json
  usage_error doctor --timeout
  for seconds in '' x 0 -1 1x 4000 nan; do
    usage_error doctor --timeout "$seconds"
  done
}

devices() {
  run "$tenon" devices
  exits_with 0 "tenon devices"
  tap_has "$out" "cpu:0 " "it lists cpu:0"
  tap_has "$out" "The default device is cpu." "it names the default device"
  run env TENON_CPU_DEVICES=2 "$tenon" devices --json
  exits_with 0 "tenon devices --json"
  is_json "tenon devices --json"
  tap_has "$out" '"schema": "tenon-devices"' "it names its schema"
  tap_has "$out" '"device": "cpu:1"' "it lists cpu:1 of TENON_CPU_DEVICES=2"
  for key in $(echo "$out" | sed -n 's/^ *"\([a-z_0-9]*\)": .*/\1/p' |
    sort -u); do
    grep -q "$key" "$man/tenon-devices.1" || echo "# $key is not described"
  done >"$tap_scratch/keys"
  tap_empty "$(cat "$tap_scratch/keys")" "tenon-devices.1 describes all of it"
  run env TENON_CPU_VISIBLE_DEVICES=0 TENON_CPU_DEVICES=3 "$tenon" devices
  tap_has "$out" 'TENON_CPU_VISIBLE_DEVICES="0"' \
    "D7 it names the variable that hides devices"
  run env TENON_DEVICE=nosuch "$tenon" devices
  exits_with 1 "a wrong TENON_DEVICE"
  tap_has "$err" nosuch "D4 the complaint names it"
  run env TENON_BACKEND_PATH=/nowhere TENON_DEVICE=cpu "$tenon" devices --json
  is_json "tenon devices --json without backends"
}

doctor() {
  run "$tenon" doctor
  exits_with 0 "tenon doctor where all is well"
  [ "$rc" -eq 0 ] || echo "$out" | sed 's/^/# /'
  tap_has "$out" "tenon-cpu.so: accepted" "it accepts tenon-cpu.so"
  tap_has "$out" "compiler: compiled a kernel" "it tries the compiler"
  tap_has "$out" "kernel cache: " "it names the kernel cache"
  run "$tenon" doctor --json
  exits_with 0 "tenon doctor --json"
  is_json "tenon doctor --json"
  for key in $(echo "$out" | sed -n 's/^ *"\([a-z_0-9]*\)": .*/\1/p' |
    sort -u); do
    grep -q "$key" "$man/tenon-doctor.1" || echo "# $key is not described"
  done >"$tap_scratch/keys"
  tap_empty "$(cat "$tap_scratch/keys")" "tenon-doctor.1 describes all of it"
}

# X2: what goes wrong in a plugin goes wrong in a child process.
crashes() {
  path=$TENON_BACKEND_PATH:$crash
  run env TENON_BACKEND_PATH="$path" "$tenon" doctor --timeout 3
  exits_with 1 "X2 tenon doctor with plugins that crash"
  tap_has "$out" "tenon-crash.so: refused: crashed: Aborted" \
    "X2 a plugin that aborts is reported"
  tap_has "$out" "tenon-hang.so: refused: gave no answer within 3 s" \
    "X2 a plugin that hangs is reported"
  tap_has "$out" "tenon-leave.so: refused: ended the process" \
    "X2 a plugin that ends the process is reported"
  tap_has "$out" "tenon-late.so: refused: asked for its devices, it crashed" \
    "X2 a plugin that aborts when asked for devices is reported"
  tap_has "$out" "tenon-cpu.so: accepted" "X2 the others are not harmed"
  tap_has "$out" "what to do: remove the file" "X2 it says what to do"
  run env TENON_BACKEND_PATH="$path" "$tenon" devices --timeout 3
  exits_with 0 "X2 tenon devices with plugins that crash"
  tap_has "$out" "crashed: Aborted" "X2 it lists them as unavailable"
  tap_has "$out" "cpu:0 " "X2 and the others as ever"
  run env TENON_BACKEND_PATH="$path" "$tenon" doctor --json --timeout 3
  is_json "tenon doctor --json with plugins that crash"
}

# Candidates that no child process is needed for.
refusals() {
  mkdir "$tap_scratch/open" "$tap_scratch/twin" "$tap_scratch/text"
  first=${TENON_BACKEND_PATH%%:*}
  cp "$first/tenon-cpu.so" "$tap_scratch/open"
  cp "$first/tenon-cpu.so" "$tap_scratch/twin"
  echo 'not a library' >"$tap_scratch/text/tenon-text.so"
  chmod 0777 "$tap_scratch/open"
  chmod 0755 "$tap_scratch/twin" "$tap_scratch/text"
  run env "TENON_BACKEND_PATH=$tap_scratch/open" "$tenon" doctor
  exits_with 1 "a folder that everybody may write"
  tap_has "$out" "is writable by everybody" "it says so"
  tap_has "$out" "what to do: chmod o-w $tap_scratch/open" "and what to do"
  run env "TENON_BACKEND_PATH=$first:$tap_scratch/twin" "$tenon" doctor
  tap_has "$out" "tenon-cpu.so: shadowed" "X2 a second tenon-cpu.so"
  exits_with 0 "it is no problem"
  run env "TENON_BACKEND_PATH=$first:$tap_scratch/text:/nowhere" \
    "$tenon" doctor
  tap_has "$out" "tenon-text.so: refused: is not a shared library" \
    "X2 a file that is no library"
  tap_has "$out" "/nowhere: No such file or directory" \
    "a place that is not there"
}

facilities() {
  run env TENON_CC=/nowhere/cc "$tenon" doctor
  exits_with 1 "tenon doctor without a compiler"
  tap_has "$out" "compiler: BROKEN" "it says so"
  tap_has "$out" "TENON_CC" "it names the variable to set"
  mkdir -m 0777 "$tap_scratch/cache"
  chmod 0777 "$tap_scratch/cache"
  run env TENON_CACHE_DIR="$tap_scratch/cache" "$tenon" doctor
  tap_has "$out" "kernel cache: BROKEN" "a cache that everybody may write"
  tap_has "$out" "TENON_CACHE_DIR" "it names the variable to set"
}

full_disk() {
  if [ -w /dev/full ]; then
    "$tenon" devices >/dev/full 2>"$tap_scratch/err"
    rc=$?
    err=$(cat "$tap_scratch/err")
    exits_with 1 "output that cannot be written"
  else
    tap_skip "no /dev/full here"
  fi
}

version_and_help
usage
man_pages
devices
doctor
crashes
refusals
facilities
full_disk
tap_done
