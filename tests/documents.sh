#!/bin/sh
# The documentation and the code name the same environment variables, links
# within the documentation lead somewhere, and its commands are there.
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

# Options that pages give to a command of tenon and its manual lacks.
strange_options() {
  grep -hoE 'tenon (conform|devices|doctor|memory|new-backend) [^`#|&]*' \
    $(pages | grep '\.md$') | while read -r _ command rest; do
    for option in $(printf '%s\n' "$rest" | grep -oE -e '--[a-z]+'); do
      grep -q "^\.It Fl .-${option#--}" "docs/man/tenon-$command.1" ||
        echo "tenon $command $option"
    done
  done
}

# Programs of this tree that pages run, as "./run examples/NAME/NAME" or
# "tests/NAME.sh", and that are not there; targets of make that no file has.
strange_programs() {
  grep -hoE '(\./run |`|^    )(examples|tests|tools)/[a-z0-9_/.-]+(`| |$)' \
    $(pages | grep '\.md$') | sed 's/^[^a-z]*//; s/^run //; s/[` ]$//' |
    sort -u | while read -r program; do
      [ -e "$program" ] || [ -e "$program.c" ] || [ -e "$program.sh" ] ||
        grep -rqw "${program##*/}" --include='*.mk' . || echo "$program"
    done
  grep -hoE '(^    |`)make [a-z][a-z-]*' $(pages | grep '\.md$') |
    sed 's/^[^m]*make //' | sort -u |
    grep -vxE 'check|install|distcheck' | while read -r target; do
    grep -qE "^[a-z -]*\b${target}[a-z -]*:" Makefile.am \
      $(find . -name '*.mk') || echo "make $target"
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
tap_empty "$(strange_options)" "options of tenon in pages are in its manual"
tap_empty "$(strange_programs)" "programs that pages run are there"
tap_empty "$(dangling)" "links between documents lead somewhere"
tap_done
