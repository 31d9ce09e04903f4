# Makes a shell script of docs/writing-a-backend.md: what its reader does.
#   ```sh        commands; "# level: X" behind one says what conform then tells
#   ```c FILE    a file as it stands
#   ```diff FILE lines of a file with what comes in their place
# After each block a line with its number is written to $ran.

function fail(why) {
  printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
  failed = 1
  exit 1
}

/^```/ && kind == "" {
  kind = substr($1, 4)
  file = $2
  block = FNR
  if (kind == "c" && file != "") print "cat >" file " <<'END_OF_BLOCK'"
  else if (kind == "diff" && file != "")
    print "edit " file " <<'END_OF_BLOCK'"
  else if (kind != "sh" || NF != 1) fail("a block that no reader can run")
  next
}
/^```/ {
  if (kind != "sh") print "END_OF_BLOCK"
  print "echo " block " " kind " " file " >>\"$ran\""
  kind = ""
  next
}
kind != "" { print }
kind == "sh" && match($0, /# level: [a-z]+$/) {
  print "reached " substr($0, RSTART + 9)
}
END { if (!failed && kind != "") fail("a block without an end") }
