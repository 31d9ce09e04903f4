# Replaces lines of a file: -v hunk=FILE, with lines that begin as those of a
# diff do, " " and "-" for what is there and " " and "+" for what is to be.
BEGIN {
  while ((getline line < hunk) > 0) {
    mark = substr(line, 1, 1)
    if (mark != "+") old[++olds] = substr(line, 2)
    if (mark != "-") new[++news] = substr(line, 2)
  }
  if (!olds) exit 1
}
{ lines[NR] = $0 }
function is_here(at, i) {
  for (i = 1; i <= olds; i++)
    if (lines[at + i - 1] != old[i]) return 0
  return 1
}
END {
  for (at = 1; at <= NR; at++) {
    if (found || !is_here(at)) {
      print lines[at]
      continue
    }
    found = 1
    for (i = 1; i <= news; i++) print new[i]
    at += olds - 1
  }
  exit !found
}
