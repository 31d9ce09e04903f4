#!/bin/sh
# The rules that all devices follow: the last line tells the level reached.
# Failures that are known stand in tenon-@NAME@.known: a test and a reason a
# line. See tenon-conform(1).
exec "${TENON:-tenon}" conform --plugin "${plugin:-./tenon-@NAME@.so}" \
  --json conform.json
