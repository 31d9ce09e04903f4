# The Test Anything Protocol for our shell tests: sourced, not run.
tap_count=0
tap_failed=0

# tap_ok STATUS TEXT: passes if the status is 0.
tap_ok() {
  tap_count=$((tap_count + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $tap_count - $2"
  else
    tap_failed=1
    echo "not ok $tap_count - $2"
  fi
}

# tap_empty OUTPUT TEXT: passes if there is no output, else shows it.
tap_empty() {
  [ -z "$1" ]
  tap_ok $? "$2"
  [ -z "$1" ] || printf '%s\n' "$1" | sed 's/^/# /'
}

# tap_has OUTPUT PART TEXT: passes if PART occurs in OUTPUT, else shows it.
tap_has() {
  case $1 in
    *"$2"*) tap_ok 0 "$3" ;;
    *) tap_ok 1 "$3"; printf '%s\n' "$1" | sed 's/^/# got: /' ;;
  esac
}

tap_skip() {
  tap_count=$((tap_count + 1))
  echo "ok $tap_count # SKIP $1"
}

tap_done() {
  echo "1..$tap_count"
  exit $tap_failed
}

# A folder for this test's files, removed at exit.
tap_folder() {
  tap_scratch=$(mktemp -d "${top_builddir:-.}/tests/scratch.XXXXXX") || {
    echo 'Bail out! no scratch folder'
    exit 1
  }
  trap 'rm -rf "$tap_scratch"' EXIT
  trap 'exit 1' HUP INT TERM
}
