#!/bin/sh
# Random programs give the same on PyTorch and on Tenon, within the bounds of
# tests/oracle/operations.py. TN_ORACLE_PROGRAMS: how many; TN_ORACLE_SEED:
# the first one's seed.
. "${top_srcdir:=.}/tests/tap.sh"
: "${TN_ORACLE_PROGRAMS:=300}" "${TN_ORACLE_SEED:=1}"
[ -n "${TN_TORCH_PYTHON-}" ] || {
  echo '1..0 # SKIP no python with PyTorch here (Debian: python3-torch)'
  exit 0
}
. "$top_srcdir/tests/python/environment.sh"
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

oracle() {
  $TN_TORCH_PYTHON "$top_srcdir/tests/oracle/oracle.py" "$@" 2>&1
}

said=$(oracle "$TN_ORACLE_PROGRAMS" "$TN_ORACLE_SEED")
tap_ok $? "$(printf '%s\n' "$said" | tail -n 1)"
printf '%s\n' "$said" | sed 's/^/# /'

# It can fail: a fault put into tn_mul is found, and its program is small.
said=$(TN_ORACLE_PLANT=mul TN_ORACLE_REPORTED=1 oracle 150 1)
[ $? -eq 1 ]
tap_ok $? "a planted fault is found"
tap_has "$said" ': value: at [' "and shown with the values that differ"
lines=$(printf '%s\n' "$said" |
  sed -n '/in C:/,$p' | grep -c '^    ')
[ "$lines" -le 4 ]
tap_ok $? "in a program of $lines calls"
tap_has "$said" 'torch.mul(v' "as PyTorch code"
tap_has "$said" 'tn_mul(v' "and as C"
tap_done
