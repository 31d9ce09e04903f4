#!/bin/sh
# What the emulated driver refuses. TN_STRICT_REAL=1: what the real one does.
: "${top_builddir:=.}"
if [ -n "${TN_STRICT_REAL:-}" ]; then
  exec "$top_builddir/tests/cudaemu_strict"
fi
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES
exec "$top_builddir/tests/cudaemu/cudaemu-run" \
  "$top_builddir/tests/cudaemu_strict"
