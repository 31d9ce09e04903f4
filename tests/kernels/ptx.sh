#!/bin/sh
# The committed PTX of the kernels is what the nvcc that made it makes of the
# sources now, in a form that old drivers take.
. "${top_srcdir:=.}/tests/tap.sh"
for source in "$top_srcdir"/kernels/*.c; do
  name=$(basename "$source" .c)
  file=$top_srcdir/kernels/ptx/$name.ptx
  [ "$(grep -c '\.visible \.entry' "$file")" -eq \
    "$(grep -c '\.global .* tn_signature_[a-z0-9_]*\[' "$file")" ]
  tap_ok $? "$name: every kernel has its signature"
  version=$(sed -n 's/^\.version //p' "$file")
  [ "$(printf '%s\n8.0\n' "$version" | sort -V | head -n 1)" = "$version" ]
  tap_ok $? "$name: .version $version, which the oldest driver takes (8.0)"
  tap_empty "$(grep -E 'approx|\.ftz|__nv_|__internal_|__cudart_' "$file")" \
    "$name: nothing approximated, nothing of the vendor's library"
done
said=$("$top_srcdir/build-aux/kernel_ptx.sh" --check "$top_srcdir" 2>&1)
status=$?
if [ $status -eq 77 ]; then
  tap_skip "the PTX is made again: $said"
else
  tap_empty "$said" "the PTX is what nvcc makes of the sources"
  tap_ok $status "and nothing went wrong"
fi
tap_done
