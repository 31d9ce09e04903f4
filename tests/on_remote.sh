#!/bin/sh
# The tests that take a device, on the rehearsal backend.
device=remote:0
. "${top_srcdir:=.}/tests/on_device.sh"
