#!/bin/sh
# The tests that take a device, on the least backend there can be.
device=template:0
TN_TEST_SMALL=1
TENON_LOG=error
export TN_TEST_SMALL TENON_LOG
. "${top_srcdir:=.}/tests/on_device.sh"
