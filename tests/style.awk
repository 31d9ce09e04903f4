# Prints what is wrong with the form of C files, and on request the lengths of
# their functions; see tests/style.sh. A function begins with { in the first
# column and ends with }. Files whose first line says "Generated" are skipped.
#   awk -v lengths=1: only "LENGTH FILE:LINE" of each function.

function wrong(why) {
  if (!lengths) printf "%s:%d: %s\n", FILENAME, FNR, why
}

function end_file() {
  if (file != "" && count > 1000 && !lengths)
    printf "%s: %d lines, more than 1000\n", file, count
}

FNR == 1 { end_file(); file = FILENAME; start = 0; made = /Generated/ }
made { count = 0; next }
{ count = FNR }
length($0) > 80 { wrong(length($0) " columns, more than 80") }
/\t/ { wrong("a tab") }
/[ \t]$/ { wrong("space at the end of the line") }
/(^|[^A-Za-z_])(TODO|FIXME|XXX)([^A-Za-z_]|$)/ { wrong("unfinished: " $0) }
/^\{/ { start = FNR }
/^\}/ && start {
  size = FNR - start + 1
  if (lengths) print size, FILENAME ":" start
  else if (size > 100)
    printf "%s:%d: function of %d lines, more than 100\n", FILENAME, start, size
  start = 0
}
END { end_file() }
