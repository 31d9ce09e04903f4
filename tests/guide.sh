#!/bin/sh
# docs/writing-a-backend.md, as a reader does it: each command and file of it,
# with an installed library, out of its tree. It ends with a backend at the
# level that the document promises.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
guide=$top_srcdir/docs/writing-a-backend.md
for tool in pkg-config autoreconf automake; do
  command -v $tool >/dev/null || {
    echo "1..0 # SKIP no $tool here"
    exit 0
  }
done
[ -z "${TN_SANITIZERS:-}" ] || {
  echo "1..0 # SKIP hours with sanitizers; out_of_tree.sh has them"
  exit 0
}
tap_folder
scratch=$(cd "$tap_scratch" && pwd)
root=$scratch/root
tests=$(cd "$top_srcdir/tests" && pwd)
examples=$(cd "$top_builddir/examples" && pwd)
unset TENON_BACKEND_PATH TENON_DEVICE TENON_LAYERS

MAKEFLAGS='' ${MAKE:-make} -s -C "$top_builddir" install "DESTDIR=$root" \
  >"$scratch/log" 2>&1
status=$?
tap_ok $status "make install"
[ $status -eq 0 ] || sed 's/^/# /' "$scratch/log"
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name tenon.pc)")
export PKG_CONFIG_PATH
prefix=$root$(pkg-config --variable=prefix tenon)
LD_LIBRARY_PATH=$root$(pkg-config --variable=libdir tenon)
export LD_LIBRARY_PATH prefix

# What a reader has in PATH: examples, as linked with what is installed;
# pkg-config finds what is not where it will be.
mkdir "$scratch/bin"
for program in textstats charlm/charlm; do
  folder=$examples/$(dirname "$program")
  name=$(basename "$program")
  for real in "$folder/$name" "$folder/.libs/$name"; do
    [ ! -x "$real" ] || ln -sf "$real" "$scratch/bin/$name"
  done
done
command=$(command -v pkg-config)
cat >"$scratch/bin/pkg-config" <<END
#!/bin/sh
exec "$command" "--define-variable=prefix=$prefix" "\$@"
END
chmod +x "$scratch/bin/pkg-config"
PATH=$scratch/bin:$(dirname "$(find "$root" -name tenon -path '*/bin/*')"):$PATH
ran=$scratch/ran
CFLAGS='-O1 -Werror'
MAKEFLAGS=
CC=${CC:-cc}
export PATH ran tests CC CFLAGS MAKEFLAGS

# ---- the script

{
  cat <<'END'
edit() {
  cat >hunk
  awk -v hunk=hunk -f "$tests/guide_edit.awk" "$1" >edited ||
    { echo "$1 has no such lines:"; cat hunk; exit 1; }
  mv edited "$1"
  rm hunk
}
reached() {
  grep -qx "level: $1" conform.sh.log || {
    echo "level $1 was to be reached:"
    grep -A 8 '^not ok' conform.sh.log
    tail -n 3 conform.sh.log
    exit 1
  }
}
END
  awk -f "$tests/guide.awk" "$guide"
} >"$scratch/script"
blocks=$(grep -c '>>"$ran"' "$scratch/script")
[ "$blocks" -gt 20 ]
tap_ok $? "the document has blocks to be run: $blocks"
: >"$ran"
(cd "$scratch" && exec sh -eu script) >"$scratch/log" 2>&1
status=$?
while read -r line kind file; do
  tap_ok 0 "line $line: $kind $file"
done <"$ran"
[ $status -eq 0 ] && [ "$(wc -l <"$ran")" -eq "$blocks" ]
tap_ok $? "X2 all of it works"
if [ $status -ne 0 ]; then
  tail -n 40 "$scratch/log" | sed 's/^/# /'
  grep -A 8 '^not ok' "$scratch"/*/conform.sh.log | sed 's/^/# /'
fi

# in_project TEXT COMMANDS
in_project() {
  (cd "$scratch/tenon-mine" && sh -ec "$2") >"$scratch/log" 2>&1
  status=$?
  tap_ok $status "$1"
  [ $status -eq 0 ] || tail -n 40 "$scratch/log" | sed 's/^/# /'
}

# By the other compiler, too.
for compiler in gcc clang clang-14; do
  command -v $compiler >/dev/null || continue
  in_project "X2 $compiler compiles it" "make clean && make CC=$compiler"
done
in_project "X2 its tarball is whole, and passes" "make distcheck"
tap_done
