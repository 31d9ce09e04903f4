# Reads include/tenon/backend.h and writes a list for tests/abi_layout.c:
#   STRUCT(name)  FIELD(struct, field, "its declaration")  VALUE(name)
# Fields of a declaration may be several ("a, b"), arrays, or functions.

function field(name, text) {
  gsub(/[ \t]+/, " ", text)
  sub(/^ /, "", text)
  printf "FIELD(%s, %s, \"%s\")\n", structure, name, text
}

# "type *a, b[3]": every name, each with the whole text.
function plain(text,   names, n, i, name) {
  n = split(text, names, ",")
  for (i = 1; i <= n; i++) {
    name = names[i]
    sub(/\[.*/, "", name)
    sub(/[ \t]+$/, "", name)
    sub(/.*[ \t*]/, "", name)
    field(name, text)
  }
}

function declaration(text,   name) {
  if (text !~ /[^ \t]/) return
  if (text ~ /\(\*[a-z_]+\)/) {
    name = text
    sub(/[^(]*\(\*/, "", name)
    sub(/\).*/, "", name)
    field(name, text)
  } else
    plain(text)
}

function members(text,   parts, n, i) {
  n = split(text, parts, ";")
  for (i = 1; i <= n; i++) declaration(parts[i])
}

function values(text,   parts, n, i, name) {
  n = split(text, parts, ",")
  for (i = 1; i <= n; i++) {
    name = parts[i]
    sub(/=.*/, "", name)
    gsub(/[ \t]/, "", name)
    if (name != "") print "VALUE(" name ")"
  }
}

# Comments of one line or several.
{
  while (match($0, /\/\*/)) {
    before = substr($0, 1, RSTART - 1)
    rest = substr($0, RSTART + 2)
    while (!match(rest, /\*\//)) {
      if ((getline more) <= 0) exit
      rest = rest " " more
    }
    $0 = before " " substr(rest, RSTART + 2)
  }
}
/^#define TN_[A-Z0-9_]+ +[0-9(]/ && $2 !~ /\(/ { print "VALUE(" $2 ")" }
/^typedef struct [a-z_]+ \{/ { structure = $3; body = ""; inside = 1; next }
/^typedef enum [a-z_]+ \{/ { body = ""; inside = 2; next }
/^\}/ && inside == 1 { print "STRUCT(" structure ")"; members(body) }
/^\}/ && inside == 2 { values(body) }
/^\}/ { inside = 0 }
inside { body = body " " $0 }
