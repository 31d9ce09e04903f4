# Prints text as a C string: static const char NAME[] = "...";
#
#   awk -f embed.awk -v name=NAME FILE

BEGIN { printf "static const char %s[] =\n", name }

{
  gsub(/\\/, "\\\\\\\\")
  gsub(/"/, "\\\\\"")
  printf "  \"%s\\n\"\n", $0
}

END { print "  ;" }
