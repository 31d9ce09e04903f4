#!/bin/sh
# What the built files export: libtenon only tn_ names, each declared in a
# public header, and all that are declared; plugins one name, and none of the
# core's is imported.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
library=$top_builddir/.libs/libtenon.so
nm=${NM:-nm}

# Names that a file defines for others, without their versions.
defined() {
  $nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }'
}

undefined() {
  $nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $2); print $2 }'
}

# The functions marked TN_API in the headers, which include each other, that
# are named: the compiler expands those that come from lists.
declared() {
  for header; do echo "#include <tenon/$header>"; done |
    ${CC:-cc} -E -I"$top_srcdir/include" -I"$top_builddir/include" -xc - |
    awk '/^#/ { own = $3 ~ /tenon\/[a-z_]*\.h"/ ? $3 : ""
                sub(/.*tenon\//, "", own); sub(/"/, "", own); next }
         own != "" { text = text " " $0 }
         own != "" && /[;{]/ { from = own; n = split(text, parts, ";")
           for (i = 1; i <= n; i++)
             if (parts[i] ~ /visibility\("default"\)\)\) /) {
               name = parts[i]; sub(/.*"default"\)\)\) /, "", name)
               sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
               if (name != "tn_backend_entry") print from, name
             }
           text = "" }' | sort -u
}

# Of a library: its headers, or those of the other.
upper='^(tensor|ops|autograd|callable|nn|dlpack)\.h '
of_core() {
  grep -vE "$upper" | sed 's/.* //'
}
of_tensors() {
  grep -E "$upper" | sed 's/.* //'
}

# Prints what is in the first list and not in the second.
beyond() {
  printf '%s\n' "$2" > "$tap_scratch/second"
  [ -z "$1" ] || printf '%s\n' "$1" | grep -vxF -f "$tap_scratch/second"
}

tap_folder
exported=$(defined "$library" | sort -u)
all=$(declared tenon.h backend.h)
public=$(printf '%s\n' "$all" | of_core)
[ "$(printf '%s\n' "$exported" | wc -l)" -gt 5 ]
tap_ok $? "libtenon exports something"
tap_empty "$(printf '%s\n' "$exported" | grep -v '^tn_')" \
  "libtenon exports only tn_ names"
tap_empty "$(beyond "$exported" "$public")" \
  "every name it exports is in a public header"
tap_empty "$(beyond "$public" "$exported")" \
  "every function of a public header is exported"

tensors=$(defined "$top_builddir/.libs/libtenon-tensor.so" | sort -u)
public=$(printf '%s\n' "$all" | of_tensors)
[ "$(printf '%s\n' "$tensors" | wc -l)" -gt 5 ]
tap_ok $? "libtenon-tensor exports something"
tap_empty "$(beyond "$tensors" "$public")" \
  "every name libtenon-tensor exports is in a public header"
tap_empty "$(beyond "$public" "$tensors")" \
  "every function of the headers on tensors is exported"

# Hidden names matter too: a static link would show them all.
objects=$(find "$top_builddir/core" -name 'libtenon_la-*.o' -path '*/.libs/*')
[ -n "$objects" ]
tap_ok $? "libtenon's objects are found"
tap_empty "$($nm -g --defined-only $objects |
  awk 'NF == 3 && $3 !~ /^(tn_|__asan|__odr_asan|__tsan|__ubsan)/')" \
  "its objects define no global name but tn_ ones"

plugins=$(find "$top_builddir/backends" "$top_builddir/layers" \
  -name 'tenon-*.so' -path '*/.libs/*')
for plugin in $plugins \
  "$top_builddir/tests/plugins/remote/.libs/tenon-remote.so"; do
  name=$(basename "$plugin")
  tap_empty "$(beyond "$(defined "$plugin")" tn_backend_entry)" \
    "$name exports tn_backend_entry alone"
  [ "$(defined "$plugin")" = tn_backend_entry ]
  tap_ok $? "$name does export it"
  tap_empty "$(undefined "$plugin" | grep '^tn_')" \
    "$name imports nothing of the core"
done
tap_done
