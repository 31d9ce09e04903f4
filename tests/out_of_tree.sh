#!/bin/sh
# What is installed suffices: a backend and a program are built with nothing
# but pkg-config, in another place than was configured, and work together.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
command -v pkg-config >/dev/null || {
  echo '1..0 # SKIP no pkg-config here'
  exit 0
}
tap_folder
root=$(cd "$tap_scratch" && pwd)/root
sources=$(cd "$top_srcdir/tests/outside" && pwd)
unset TENON_BACKEND_PATH

make_quietly() {
  MAKEFLAGS='' ${MAKE:-make} -s -C "$top_builddir" "$@" \
    >"$tap_scratch/log" 2>&1
}

# logged TEXT COMMAND...
logged() {
  text=$1
  shift
  "$@" >"$tap_scratch/log" 2>&1
  status=$?
  tap_ok $status "$text"
  [ $status -eq 0 ] || sed 's/^/# /' "$tap_scratch/log"
}

logged "make install" make_quietly install "DESTDIR=$root"
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name tenon.pc)")
export PKG_CONFIG_PATH

# The configured folders, moved under $root.
configured() {
  pkg-config "--variable=$1" tenon
}

moved() {
  pkg-config "--define-variable=libdir=$root$libdir" \
    "--define-variable=includedir=$root$includedir" "$@" tenon
}

libdir=$(configured libdir)
includedir=$(configured includedir)
backends=$(moved --variable=backenddir)
tap_empty "$(find "$root" -name '*.la' -path '*/backends/*')" \
  "backends are installed without .la files"
major=$(sed -n 's/^#define TN_BACKEND_ABI_MAJOR //p' \
  "$root$includedir/tenon/backend.h")
[ "$(moved --variable=backend_abi)" = "$major" ]
tap_ok $? "pkg-config tells the plugin interface: $major"

sanitize=${TN_SANITIZERS:+-fsanitize=$TN_SANITIZERS}
flags="-std=c11 -Wall -Wextra -Wpedantic -Werror -O1 $sanitize"
mkdir -p "$backends"
logged "X2 a backend is built with pkg-config --cflags" \
  ${CC:-cc} $flags -D_POSIX_C_SOURCE=200809L $(moved --cflags) \
  -fPIC -shared "$sources/backend.c" -o "$backends/tenon-outside.so"
logged "a program is built with pkg-config --cflags --libs" \
  ${CC:-cc} $flags $(moved --cflags) "$sources/program.c" \
  -o "$tap_scratch/program" $(moved --libs)

# run COMMAND...: with the moved library.
run() {
  LD_LIBRARY_PATH=$root$libdir "$@" 2>&1
}

tap_has "$(run "$tap_scratch/program" outside)" \
  "outside Device from outside: there and back" \
  "X2 the program finds and uses the backend, beside the library"
tap_has "$(run "$tap_scratch/program" nowhere)" nowhere \
  "D4 a backend that is not there is named"
[ ! -e "$backends/tenon-cpu.so" ] ||
  tap_has "$(run "$tap_scratch/program" cpu:0)" ": there and back" \
    "the installed cpu backend works too"
tenon=$(find "$root" -name tenon -path '*/bin/*')
[ -z "$tenon" ] ||
  tap_has "$(run "$tenon" devices)" "outside:0" \
    "the installed command lists the device"

# ---- a project of one's own, as the command writes it

# own COMMAND...: in the project, with the moved library.
own() (
  cd "$project" && LD_LIBRARY_PATH=$root$libdir MAKEFLAGS='' "$@"
)

project=$root/../project
has_autotools() {
  command -v autoreconf && command -v automake && [ -n "$tenon" ]
}
if has_autotools >"$tap_scratch/log" 2>&1; then
  prefix=$(configured prefix)
  logged "tenon new-backend writes a project" \
    run "$tenon" new-backend mine "$project"
  run "$tenon" new-backend mine "$project" >"$tap_scratch/log" &&
    echo 'no failure' >>"$tap_scratch/log"
  [ "$(wc -l <"$tap_scratch/log")" -eq 1 ] &&
    grep -q 'project: File exists' "$tap_scratch/log"
  tap_ok $? "which is not written over"
  logged "X2 autoreconf" own autoreconf --install
  logged "X2 configure finds the library by pkg-config" own ./configure \
    "PKG_CONFIG=pkg-config --define-variable=prefix=$root$prefix" \
    "TENON=$tenon" --with-backenddir="$backends" CC="${CC:-cc}" \
    CFLAGS="-O1 -Werror $sanitize"
  logged "X2 make" own ${MAKE:-make}
  logged "X2 make check: the new backend passes the conformance suite" \
    own ${MAKE:-make} check
  tap_has "$(cat "$project/conform.sh.log")" "level: minimal" \
    "X2 at level minimal"
  # The next step of docs/writing-a-backend.md.
  cp "$(find "$root" -path '*/examples/template/launch.c')" "$project"
  sed -e '/---- the backend/i\
#include "launch.c"\
' -e 's/^  \.copy = &copy_table,/&\
  .launch = \&launch_table,/' "$project/mine.c" >"$project/new.c" &&
    mv "$project/new.c" "$project/mine.c"
  logged "X3 launch is added: make check" own ${MAKE:-make} check
  tap_has "$(cat "$project/conform.sh.log")" "level: launch" \
    "X3 then the level is launch"
  logged "make distdir finds all files" own ${MAKE:-make} distdir
  logged "make install" own ${MAKE:-make} install
  run "$tenon" devices >"$tap_scratch/devices"
  tap_has "$(cat "$tap_scratch/devices")" "mine:0" \
    "the command lists the new device"
  tap_empty "$(grep -A 2 '^mine:0' "$tap_scratch/devices" |
    grep 'supplies launch')" "X3 and the core supplies launch no more"
  logged "make uninstall" own ${MAKE:-make} uninstall
  [ ! -e "$backends/tenon-mine.so" ]
  tap_ok $? "and no more"
else
  tap_skip "no autotools here"
fi

logged "make uninstall" make_quietly uninstall "DESTDIR=$root"
tap_empty "$(find "$root" -type f | grep -v '/tenon-outside\.so$')" \
  "nothing is left behind"
[ -e "$backends/tenon-outside.so" ]
tap_ok $? "but the backend that others installed"
tap_done
