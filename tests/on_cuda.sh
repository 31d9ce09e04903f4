#!/bin/sh
# The tests that take a device, on the first of two emulated GPUs.
echo '# EMULATED'
unset CUDA_VISIBLE_DEVICES TENON_CUDA_VISIBLE_DEVICES
device=cuda:0
TN_TEST_SMALL=1
export TN_TEST_SMALL
under="${top_builddir:=.}/tests/cudaemu/cudaemu-run --devices 2"
. "${top_srcdir:=.}/tests/on_device.sh"
