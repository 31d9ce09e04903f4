#!/bin/sh
# The tests that take a device, on opencl.
device=opencl:0
. "${top_srcdir:=.}/tests/on_device.sh"
