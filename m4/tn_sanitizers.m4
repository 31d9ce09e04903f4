# TN_SANITIZERS
# --enable-sanitizers=LIST adds -fsanitize=LIST to our own flags.
AC_DEFUN([TN_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
  [AS_HELP_STRING([--enable-sanitizers=LIST],
    [build with these sanitizers, such as address,undefined or thread])],
  [tn_sanitizers=$enableval], [tn_sanitizers=])
AS_IF([test "x$tn_sanitizers" = xno], [tn_sanitizers=])
AS_IF([test "x$tn_sanitizers" = xyes], [tn_sanitizers=address,undefined])
AS_IF([test -n "$tn_sanitizers"], [
  tn_flags="-fsanitize=$tn_sanitizers -fno-omit-frame-pointer"
  case ",$tn_sanitizers," in
    *,undefined,*) tn_flags="$tn_flags -fno-sanitize-recover=undefined" ;;
  esac
  # gcc warns of fences, which its ThreadSanitizer does not follow; ours come
  # beside atomic variables, which it does.
  case ",$tn_sanitizers," in
    *,thread,*)
      tn_save=$CFLAGS
      CFLAGS="$CFLAGS -Wno-tsan -Werror"
      AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int tn_probe;]])],
        [tn_flags="$tn_flags -Wno-tsan"])
      CFLAGS=$tn_save ;;
  esac
  tn_save=$CFLAGS
  CFLAGS="$CFLAGS $tn_flags"
  AC_MSG_CHECKING([whether $CC links with -fsanitize=$tn_sanitizers])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$CC cannot build with -fsanitize=$tn_sanitizers])])
  CFLAGS=$tn_save
  TN_CFLAGS="$TN_CFLAGS $tn_flags"
  TN_LDFLAGS="$TN_LDFLAGS -fsanitize=$tn_sanitizers"])
AC_SUBST([TN_LDFLAGS])
AC_SUBST([TN_SANITIZERS], [$tn_sanitizers])
AM_CONDITIONAL([SANITIZED], [test -n "$tn_sanitizers"])
])
