#!/bin/sh
# The opencl plugin's own test on what PoCL offers beside its default: two
# devices alike, two that are not, and none of them with shared virtual
# memory; then on machines where OpenCL is absent in one way or another.
. "${top_srcdir:=.}/tests/tap.sh"
program=${top_builddir:=.}/tests/opencl_plugin
tap_folder

# passes TEXT: whether the program passed with what is in the environment.
passes() {
  "$program" > "$tap_scratch/output" 2> "$tap_scratch/errors"
  status=$?
  if grep -q '# SKIP no' "$tap_scratch/output" && [ $status = 0 ]; then
    tap_skip "$1: $(sed -n 's/.*# SKIP //p' "$tap_scratch/output")"
    return
  fi
  tap_ok $status "$1"
  [ $status = 0 ] || {
    grep -v '^ok' "$tap_scratch/output"
    tail -n 40 "$tap_scratch/errors"
  } | sed 's/^/# /'
}

for devices in pthread 'basic basic' 'pthread pthread' 'basic pthread'; do
  for svm in 1 0; do
    [ "$devices $svm" = 'pthread 1' ] && continue # as by default
    POCL_DEVICES=$devices TENON_OPENCL_SVM=$svm
    export POCL_DEVICES TENON_OPENCL_SVM
    passes "the plugin on \"$devices\", shared virtual memory $svm"
  done
done
unset POCL_DEVICES TENON_OPENCL_SVM

# absent PART TEXT: the program skips, and its reason has PART.
absent() {
  output=$("$program" 2>&1)
  tap_has "$output" "# SKIP $1" "D2 $2"
}

mkdir "$tap_scratch/vendors"
OCL_ICD_VENDORS=$tap_scratch/vendors
OPENCL_VENDOR_PATH=$tap_scratch/vendors
export OCL_ICD_VENDORS OPENCL_VENDOR_PATH
absent 'no OpenCL driver is installed' 'no driver is a reason'
unset OCL_ICD_VENDORS OPENCL_VENDOR_PATH

LD_LIBRARY_PATH=$tap_scratch/loader${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
mkdir "$tap_scratch/loader"
echo nonsense > "$tap_scratch/loader/libOpenCL.so.1"
absent 'no OpenCL loader:' 'no loader is a reason'
echo 'int clFinish(void *queue) { return queue != 0; }' \
  > "$tap_scratch/loader/old.c"
if ${CC:-cc} -shared -fPIC -o "$tap_scratch/loader/libOpenCL.so.1" \
  "$tap_scratch/loader/old.c" 2> "$tap_scratch/errors"; then
  absent 'libOpenCL.so.1 lacks clBuildProgram' \
    'a loader without the calls is a reason'
else
  tap_skip 'no compiler for a loader without calls'
fi
tap_done
