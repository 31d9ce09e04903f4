#!/bin/sh
# Every installed header compiles alone, twice in a row, as C11 and as C++17,
# without a pedantic warning; what needs C is hidden from C++.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only
  -I$top_srcdir/include -I$top_builddir/include"
headers=$(cd "$top_srcdir/include" && ls tenon/*.h)
headers="$headers
tenon/version.h"

# compile COMPILER LANGUAGE STANDARD: the source on standard input.
compile() {
  $1 -x "$2" "-std=$3" $flags - 2>&1
}

# alone COMPILER LANGUAGE STANDARD
alone() {
  if ! command -v "$1" >/dev/null; then
    tap_skip "no $1 here"
    return
  fi
  for header in $headers; do
    said=$(printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
      compile "$1" "$2" "$3") && said=
    tap_empty "$said" "$header compiles alone with $1 as $3"
  done
}

# The macros that a header leaves behind in a language.
macros() {
  echo '#include <tenon/tenon.h>' |
    $1 -x "$2" -E -dM "-I$top_srcdir/include" "-I$top_builddir/include" - |
    grep 'define [tT][nN]_'
}

alone gcc c c11
alone clang c c11
alone g++ c++ c++17
alone clang++ c++ c++17

in_c=$(macros "${CC:-cc}" c | grep -c '\.tn_end_')
in_cxx=$(macros "${CC:-cc}" c++ | grep -E '_options\)|\.[a-z_]+ =|_Generic')
[ "$in_c" -gt 0 ]
tap_ok $? "named options are there in C"
tap_empty "$in_cxx" "and hidden from C++"

said=$(compile "${CC:-cc}" c c11 <<'C'
#include <tenon/tenon.h>
int probe(tn_device device, const char *source);
int probe(tn_device device, const char *source)
{
  tn_module *plain = tn_module_load(device, source);
  tn_module *named = tn_module_load(device, source, .name = "x");
  tn_module_release(plain);
  tn_module_release(named);
  return 0;
}
C
) && said=
tap_empty "$said" "option macros take no option, or some, under -Wpedantic"
tap_done
