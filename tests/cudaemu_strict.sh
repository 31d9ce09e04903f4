#!/bin/sh
# What the emulated driver refuses. TN_STRICT_REAL=1: what the real one does.
: "${top_builddir:=.}"
# Some of the programs are to die by a signal, and some race on purpose, which
# the double is to report, not ThreadSanitizer.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0:report_bugs=0
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}handle_segv=0
export ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS
if [ -n "${TN_STRICT_REAL:-}" ]; then
  exec "$top_builddir/tests/cudaemu_strict"
fi
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES
exec "$top_builddir/tests/cudaemu/cudaemu-run" \
  "$top_builddir/tests/cudaemu_strict"
