# TN_CORE_FOLDER
# Every configure script removes a core dump called "core"; here that name is
# a source folder, so rm would complain and its exit trap stop half-way.
# Shadows rm with a function that drops that one word.
AC_DEFUN([TN_CORE_FOLDER], [
rm ()
{
  for tn_word
  do
    shift
    test "x$tn_word" = xcore || set x ${1+"$[@]"} "$tn_word"
    test "x$tn_word" = xcore || shift
  done
  command rm "$[@]"
}
])
