# Makes one text that needs no other file of a portable kernel's source:
#   awk -v include=FOLDER -f flatten.awk kernels/NAME.c
# #include <tenon/...> (from FOLDER) and #include "..." (from the includer's
# folder) are replaced by what they name, once each; other includes are for
# host compilers and stay. #line directives keep messages naming the right
# file and line.

function fail(text) {
  print "flatten.awk: " text > "/dev/stderr"
  failed = 1
  exit 1
}

function folder_of(path) {
  return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/)) : ""
}

# The path that an include line names, or "" if it stays as it is.
function target(line, path, name) {
  name = line
  if (line ~ /^#include <tenon\/[^>]*>/) {
    sub(/^#include </, "", name)
    sub(/>.*/, "", name)
    return include "/" name
  }
  if (line ~ /^#include "[^"]*"/) {
    sub(/^#include "/, "", name)
    sub(/".*/, "", name)
    return folder_of(path) name
  }
  return ""
}

# The name that messages show: below the include folder, or the file's own.
function shown(path) {
  if (index(path, include "/") == 1)
    return substr(path, length(include) + 2)
  sub(/^.*\//, "", path)
  return path
}

function flatten(path, line, number, other, status) {
  if (path in done)
    return
  done[path] = 1
  printf "#line 1 \"%s\"\n", shown(path)
  number = 0
  while ((status = (getline line < path)) > 0) {
    number++
    other = target(line, path)
    if (other == "") {
      print line
    } else {
      flatten(other)
      printf "#line %d \"%s\"\n", number + 1, shown(path)
    }
  }
  if (status < 0)
    fail(path ": cannot be read")
  close(path)
}

BEGIN {
  if (ARGC != 2 || include == "")
    fail("usage: awk -v include=FOLDER -f flatten.awk FILE")
  flatten(ARGV[1])
  exit failed
}
