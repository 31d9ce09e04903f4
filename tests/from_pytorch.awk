# A C program of docs/from-pytorch.md: each row of its tables a function that
# begins with the page's variables. -v rows=FILE: also the rows, as
# "N<TAB>PyTorch<TAB>C".
/^```c$/ { in_c = 1; next }
/^```/ { in_c = 0 }
in_c { variables = variables "  " $0 "\n"; next }
/^\| `.*` \| `.*` \|$/ {
  gsub(/\\\|/, "|")
  middle = index($0, "` | `")
  theirs = substr($0, 4, middle - 4)
  ours = substr($0, middle + 5, length($0) - middle - 7)
  row[++count] = ours
  print count "\t" theirs "\t" ours > rows
}
END {
  print "#include \"tests/from_pytorch.h\"\n"
  for (n = 1; n <= count; n++) {
    printf "static void row_%d(void)\n{\n%s", n, variables
    if (row[n] ~ /[;}]$/)
      printf "  { %s }\n  SHOW(%d, tn_last_status() == TN_OK);\n", row[n], n
    else
      printf "  SHOW(%d, (%s));\n", n, row[n]
    print "}\n"
  }
  print "int main(void)\n{"
  for (n = 1; n <= count; n++) printf "  RUN(row_%d);\n", n
  print "  return 0;\n}"
}
