# For tests in Python: where the libraries are, what the headers declare, and
# nothing written beside the sources. Sourced, after tap.sh.
: "${top_builddir:=.}"
case ${TN_SANITIZERS:-} in
'' | undefined) ;;
*)
  # Their run-time libraries have to be the first of a process.
  echo "1..0 # SKIP python has not been built with $TN_SANITIZERS"
  exit 0
  ;;
esac
tap_folder
TENON_HEADERS=$tap_scratch/tenon.i
TENON_LIBRARIES=$top_builddir/.libs
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$top_srcdir/tests/python
export TENON_HEADERS TENON_LIBRARIES PYTHONDONTWRITEBYTECODE PYTHONPATH
${CC:-cc} -E -P "-I$top_srcdir/include" "-I$top_builddir/include" \
  "$top_srcdir/include/tenon/tenon.h" >"$TENON_HEADERS" || {
  echo 'Bail out! the headers cannot be preprocessed'
  exit 1
}
