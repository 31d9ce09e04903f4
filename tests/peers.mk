# Tests beside PyTorch, and from Python: skipped where these are not found.
dist_check_SCRIPTS += %D%/from_pytorch.sh %D%/oracle.sh %D%/python.sh
EXTRA_DIST += \
  %D%/from_pytorch.awk \
  %D%/oracle/compare.py \
  %D%/oracle/differences.py \
  %D%/oracle/generator.py \
  %D%/oracle/operations.py \
  %D%/oracle/oracle.py \
  %D%/oracle/page.py \
  %D%/oracle/session.py \
  %D%/oracle/shrink.py \
  %D%/python/environment.sh \
  %D%/python/tenon.py \
  %D%/python/train.py
noinst_HEADERS += %D%/from_pytorch.h
