#!/bin/sh
# kernels/headers.mk names what each family of kernels is made of: what the
# generator finds now, and all that a compiler reads.
. "${top_srcdir:=.}/tests/tap.sh"
tap_folder
rules=kernels/headers.mk

# made ROOT: the rules of the sources there, as they should be
made() {
  (cd "$1" && LC_ALL=C awk -f build-aux/kernel_headers.awk kernels/*.c)
}

# named NAME: the files of a family's rule, one a line
named() {
  awk -v start="kernels/$1.baseline.lo " 'index($0, start) == 1 { on = 1 }
    on && /^  (kernels|include).*\.[ch]( |$)/ { print $1 }
    on && !/\\$/ { exit }' "$top_srcdir/$rules" | LC_ALL=C sort
}

# read_by_compiler NAME: those that the compiler reads for it
read_by_compiler() {
  (cd "$top_srcdir" && $CC -MM -Iinclude "kernels/$1.c") | tr ' ' '\n' |
    sed -n 's/^kernels\/\.\.\///; /\.[ch]$/p' | LC_ALL=C sort
}

tap_empty "$(made "$top_srcdir" 2>&1 | diff - "$top_srcdir/$rules")" \
  "$rules is what build-aux/kernel_headers.awk makes now"

for source in "$top_srcdir"/kernels/*.c; do
  name=$(basename "$source" .c)
  named "$name" > "$tap_scratch/named"
  read_by_compiler "$name" > "$tap_scratch/read"
  [ -s "$tap_scratch/read" ]
  tap_ok $? "$name: the compiler tells what it reads"
  tap_empty "$(comm -23 "$tap_scratch/read" "$tap_scratch/named" 2>&1)" \
    "$name: all of it is named"
done

mkdir -p "$tap_scratch/include" "$tap_scratch/kernels" \
  "$tap_scratch/build-aux"
cp "$top_srcdir/build-aux/kernel_headers.awk" "$tap_scratch/build-aux"
printf '#include "b.h"\n' > "$tap_scratch/kernels/a.c"
printf '#include <tenon/kernel_c.h>\n' > "$tap_scratch/kernels/b.h"
mkdir -p "$tap_scratch/include/tenon"
: > "$tap_scratch/include/tenon/kernel_c.h"
tap_has "$(made "$tap_scratch")" 'include/tenon/kernel_c.h' \
  "a header of a header is named"
rm "$tap_scratch/kernels/b.h"
tap_has "$(made "$tap_scratch" 2>&1)" 'kernels/b.h: cannot be read' \
  "one that is not there is told"
tap_done
