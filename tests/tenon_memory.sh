#!/bin/sh
# tenon memory: the picture of a snapshot (rule M4), and what it refuses.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"
tap_folder
tenon=$top_builddir/tools/tenon
"$top_builddir/tests/snapshot" --write "$tap_scratch" > /dev/null 2>&1
tap_ok $? "M4 a snapshot is written"

# run ARGUMENTS: sets out, err and rc.
run() {
  out=$("$tenon" memory "$@" 2> "$tap_scratch/err")
  rc=$?
  err=$(cat "$tap_scratch/err")
}

# refuses STATUS PART TEXT ARGUMENTS
refuses() {
  wanted=$1 part=$2 text=$3
  shift 3
  run "$@"
  [ "$rc" -eq "$wanted" ] && [ -z "$out" ] &&
    [ "$(wc -l < "$tap_scratch/err")" -eq 1 ]
  tap_ok $? "M4 $text"
  tap_has "$err" "$part" "M4 $text: says why"
}

run "$tap_scratch/json"
[ "$rc" -eq 0 ]
tap_ok $? "M4 it is drawn"
tap_has "$out" '<svg xmlns="http://www.w3.org/2000/svg"' "M4 as SVG"
tap_has "$out" 'Memory of manual:0' "M4 the device is named"
for part in 'Over time' 'Where, over time' 'Segments at the end' \
  'Who holds most' 'out of memory: 100 MiB asked for' 'weights: ' \
  'given back and still in use'; do
  tap_has "$out" "$part" "M4 it has: $part"
done
refers=$(printf '%s' "$out" | grep -oE '(href|src|url)[=(]' | head -n 1)
tap_empty "$refers" "M4 it needs no other file"
if command -v python3 > /dev/null; then
  printf '%s' "$out" > "$tap_scratch/svg"
  wrong=$(python3 - "$tap_scratch" 2>&1 <<'END'
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1] + "/svg").getroot()
name = "{http://www.w3.org/2000/svg}"
snapshot = json.load(open(sys.argv[1] + "/json"))
blocks = sum(len(s["blocks"]) for s in snapshot["segments"])
drawn = [r for r in root.iter(name + "rect") if r.get("class") == "b"]
assert len(drawn) == blocks, (len(drawn), blocks)
height, width = float(root.get("height")), float(root.get("width"))
for r in root.iter(name + "rect"):
    if r.get("width") == "100%": continue
    x, y, w, h = (float(r.get(k)) for k in ("x", "y", "width", "height"))
    assert w >= 0 and h >= 0 and x >= 0 and y >= 0, r.attrib
    assert x + w <= width and y + h <= height, r.attrib
END
  )
  tap_empty "$wrong" "M4 it is XML, has each block, and all within the page"
fi
run "$tap_scratch/json" --output "$tap_scratch/out.svg"
[ "$rc" -eq 0 ] && [ -z "$out" ] && grep -q '</svg>' "$tap_scratch/out.svg"
tap_ok $? "M4 --output writes a file"

echo '{"segments": [], "device_traces": [[]]}' > "$tap_scratch/empty"
run "$tap_scratch/empty"
[ "$rc" -eq 0 ]
tap_ok $? "M4 an empty snapshot is drawn, too"
tap_has "$out" "tn_memory_record_history" "M4 without events it says how"

refuses 2 "needs FILE" "no file"
refuses 2 'unknown argument "b"' "two files" a b
refuses 2 'unknown option "--frob"' "an unknown option" --frob
refuses 1 "cannot be read: No such file" "a missing file" "$tap_scratch/none"
refuses 1 "is a pickle" "the other form" "$tap_scratch/pickle"
echo '{"segments": [1,' > "$tap_scratch/cut"
refuses 1 "is no JSON: line 2" "a cut file" "$tap_scratch/cut"
echo '[]' > "$tap_scratch/other"
refuses 1 "is no snapshot" "other JSON" "$tap_scratch/other"
printf '{"a": "\\u12"}' > "$tap_scratch/escape"
refuses 1 'a bad \u' "a bad escape" "$tap_scratch/escape"
refuses 1 "cannot write" "a folder that is not there" \
  "$tap_scratch/json" --output "$tap_scratch/none/svg"
# Nothing of it makes the reader go astray.
head -c 5000 "$tap_scratch/json" > "$tap_scratch/cut"
bad=
for size in 1 2 3 10 100 1000 2345 4999; do
  head -c "$size" "$tap_scratch/json" > "$tap_scratch/cut"
  run "$tap_scratch/cut"
  [ "$rc" -eq 1 ] || bad="$bad $size"
done
tap_empty "$bad" "M4 files cut anywhere are refused"
run --help
tap_has "$out" "Usage: tenon memory [OPTION]... FILE" "M4 --help"
tap_has "$out" "--output SVG" "M4 --help names the option"
tap_done
