#!/bin/sh
# The documentation and the code name the same environment variables, and
# links within the documentation lead somewhere.
. "${top_srcdir:=.}/tests/tap.sh"
cd "$top_srcdir" || exit 1

# Every backend has a mask of its own: TENON_NAME_VISIBLE_DEVICES.
variables() {
  grep -ohE 'TENON_[A-Z0-9_%<>s]*[A-Z0-9s]' "$@" /dev/null |
    sed 's/^TENON_.*_VISIBLE_DEVICES$/TENON_NAME_VISIBLE_DEVICES/
      s/^TENON_.*_FAIL$/TENON_NAME_FAIL/' |
    grep -vE '_H$|^TENON_REMOTE_' | LC_ALL=C sort -u
}

# Texts in quotes: what the code reads. Guards of headers are not.
in_code() {
  find core backends tensor conformance tools -name '*.[ch]' 2>/dev/null |
    xargs grep -ohE '"[^"]*TENON_[^"]*"' /dev/null > "$tap_scratch/code"
  variables "$tap_scratch/code"
}

in_documents() {
  variables $(pages)
}

pages() {
  ls ./*.md
  find docs -name '*.md' -o -name '*.[1-8]'
}

# beyond LIST OTHER: what the second lacks.
beyond() {
  printf '%s\n' "$2" > "$tap_scratch/list"
  printf '%s\n' "$1" | grep -vxF -f "$tap_scratch/list"
}

# Relative links of Markdown pages whose file is not there.
dangling() {
  for page in $(pages | grep '\.md$'); do
    grep -oE '\]\([^)# ]+' "$page" | sed 's/^](//' |
      grep -vE '^[a-z]+:' | while read -r link; do
      [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
    done
  done
}

top_builddir=$(cd "${top_builddir:-.}" && pwd)
tap_folder
code=$(in_code)
written=$(in_documents)
[ "$(printf '%s\n' "$code" | wc -l)" -gt 3 ]
tap_ok $? "variables are found in the code: $(echo $code)"
if [ -s docs/environment.md ] || [ -s docs/tour.md ]; then
  tap_empty "$(beyond "$code" "$written")" \
    "every variable of the code is documented"
else
  tap_skip "docs/ has no pages yet that could document variables"
fi
tap_empty "$(beyond "$written" "$code")" \
  "every documented variable is in the code"
tap_empty "$(dangling)" "links between documents lead somewhere"
tap_done
