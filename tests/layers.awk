# Prints every #include that goes upward or sideways; see tests/layers.sh.
# Input: source files, named relative to the root.

BEGIN {
  # Folders of the core, and the public header each one answers for.
  split("base device exec memory copy launch graph", folders)
  for (i in folders) rank["core/" folders[i]] = i + 0
  split("status device stream memory copy kernel graph tensor ops " \
        "autograd nn callable dlpack", headers)
  for (i in headers) rank["tenon/" headers[i] ".h"] = i + 0
  split("tensor compute autograd ops nn callable", parts)
  for (i in parts) rank["tensor/" parts[i]] = i + 0
  # Independent of the rest.
  rank["tenon/version.h"] = 2
  free["tenon/kernel_lang.h"] = free["tenon/kernel_math.h"] = 1
  free["tenon/kernel_math_f64.h"] = 1
}

function folder_of(path) {
  sub("/[^/]*$", "", path)
  return path
}

# The first two folders, or the first.
function part_of(path,   names) {
  split(path, names, "/")
  return names[1] "/" names[2]
}

# Of a public header, or of a file of the core; 99 for others.
function rank_of(name) {
  if (name in rank) return rank[name]
  return part_of(name) in rank ? rank[part_of(name)] : 99
}

function wrong(why) {
  printf "%s:%d: includes %s: %s\n", FILENAME, FNR, target, why
}

function check_header(   own) {
  own = "tenon/" substr(FILENAME, length("include/tenon/") + 1)
  if (own == "tenon/tenon.h") return
  if (target !~ /^tenon\//)
    wrong("public headers include only each other")
  else if (own == "tenon/backend.h" && target != "tenon/status.h")
    wrong("the plugin interface includes only status.h")
  else if (own ~ /^tenon\/kernel_math/ && target in free)
    return
  else if (own in free || rank_of(target) >= rank_of(own))
    wrong("goes upward")
}

function check_core() {
  if (target == "config.h" || target ~ /^tenon\//) return
  if (target !~ /^core\//)
    wrong("the core includes only itself and public headers")
  else if (rank_of(target) > rank_of(FILENAME))
    wrong("goes upward")
}

function check_backend() {
  if (target == "config.h" || target == "tenon/backend.h" ||
      target == "tenon/status.h" || target in free)
    return
  if (part_of(target) == "backends/listing") return # parts of several
  if (part_of(target) != part_of(FILENAME))
    wrong("a backend includes only tenon/backend.h, the kernel language " \
          "and itself")
}

function check_kernel() {
  if (!(target in free) && target !~ /^kernels\//)
    wrong("kernels include only the kernel language")
}

function check_upper(   top) {
  top = FILENAME
  sub("/.*", "", top)
  if (top == "tools" && target == "conformance/suite.h") return
  if (target != "config.h" && target !~ "^(tenon|" top ")/")
    wrong("only public headers and its own folder are open to " top)
  else if (top == "tensor" && target ~ /^tensor\// &&
           rank_of(target) > rank_of(FILENAME))
    wrong("goes upward")
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
  target = $0
  quoted = target ~ /"/
  sub(/^[^"<]*["<]/, "", target)
  sub(/[">].*/, "", target)
  if (!quoted && target !~ /^tenon\//) next # the system's
  if (target !~ /\//) {
    if (target == "config.h") next
    target = folder_of(FILENAME) "/" target
  }
  if (FILENAME ~ /^include\//) check_header()
  else if (FILENAME ~ /^core\//) check_core()
  else if (FILENAME ~ /^backends\//) check_backend()
  else if (FILENAME ~ /^kernels\//) check_kernel()
  else check_upper()
}
