#!/bin/sh
# Snapshots as files: JSON and PyTorch's pickle say the same, have PyTorch's
# keys, and add up (rule M4). Read by python's own json and pickle.
. "${top_srcdir:=.}/tests/tap.sh"
: "${top_builddir:=.}"

if ! python3 -c 'import json, pickle, pickletools' 2> /dev/null; then
  tap_skip "no python3"
  tap_done
fi
tap_folder
"$top_builddir/tests/snapshot" --write "$tap_scratch" \
  > "$tap_scratch/output" 2>&1
status=$?
tap_ok "$status" "M4 the program that writes them ends well"
[ "$status" -eq 0 ] || sed 's/^/# /' "$tap_scratch/output"

# says TEXT CODE: CODE, python that sees `j`, `p` (both forms) and `f`.
says() {
  problem=$(python3 - "$tap_scratch" "$2" 2>&1 <<'END'
import json, pickle, pickletools, sys
folder, code = sys.argv[1:]
j = json.load(open(folder + "/json", encoding="utf-8"))
raw = open(folder + "/pickle", "rb").read()
p = pickle.loads(raw)
f = [int(n) for n in open(folder + "/figures").read().split()]
blocks = [b for s in p["segments"] for b in s["blocks"]]
events = [e for t in p["device_traces"] for e in t]
exec(code)
END
  )
  tap_empty "$problem" "$1"
}

says "M4 the pickle is of protocol 2, and no more than its viewer reads" '
ops = {o.name for o, a, at in pickletools.genops(raw)}
known = set("PROTO STOP MARK EMPTY_DICT SETITEMS EMPTY_LIST APPENDS "
            "BINUNICODE BININT BININT1 BININT2 LONG1 BINFLOAT TUPLE2 "
            "NEWTRUE NEWFALSE".split())
assert raw[:2] == b"\x80\x02" and raw[-1:] == b"." and not ops - known, ops'
says "M4 both forms say the same" '
def plain(x):
    if isinstance(x, dict): return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [plain(v) for v in x]
    return x
one, other = plain(j), plain(p)
# The first of them is an event of the second.
extra = other["device_traces"][0].pop()
first = one["device_traces"][0].pop(0)
assert extra["action"] == "snapshot", extra
assert one == other'
says "M4 keys of segments" '
keys = set("device address total_size allocated_size active_size "
           "requested_size stream segment_type segment_pool_id is_expandable "
           "frames blocks".split())
assert all(keys <= set(s) for s in p["segments"]) and p["segments"]
assert all(type(s["segment_pool_id"]) is tuple for s in p["segments"])
assert {s["segment_type"] for s in p["segments"]} == {"small", "large"}
assert len({s["segment_pool_id"] for s in p["segments"]}) == 3
assert 0 in {s["stream"] for s in p["segments"]}'
says "A102 keys of blocks, which tile their segments" '
keys = set("address size requested_size state frames".split())
assert all(keys <= set(b) for b in blocks)
assert {b["state"] for b in blocks} == {"active_allocated", "inactive",
                                        "active_pending_free"}
for s in p["segments"]:
    at = s["address"]
    for b in s["blocks"]:
        assert b["address"] == at and b["size"] % 512 == 0
        at += b["size"]
    assert at == s["address"] + s["total_size"]'
says "A094 the sums are the statistics" '
sums = [sum(s[k] for s in p["segments"]) for k in
        ("total_size", "allocated_size", "active_size", "requested_size")]
assert sums == f, (sums, f)
assert sum(b["requested_size"] for b in blocks) == f[3]'
says "M4 keys of events" '
assert len(events) == 300
times = [e["time_us"] for e in events]
assert times == sorted(times)
assert all({"action", "size", "stream", "frames", "pool_id"} <= set(e)
           for e in events)
assert all("addr" in e for e in events if e["action"] != "oom")
assert all("device_free" in e for e in events if e["action"] == "oom")
assert "oom" in {e["action"] for e in events}
assert {e["user_metadata"] for e in events} == {"caf\u00e9 \ufffd"}'
says "M4 frames name the code and the tag" '
frames = [b["frames"][0] for b in blocks if b["state"] == "active_allocated"]
assert {g["name"] for g in frames} == {"", "weights", "work"}, frames
assert all(g["filename"].startswith("snapshot+0x") for g in frames)
assert all(type(g["line"]) is int for g in frames)'
says "M4 the options are there" '
s = p["allocator_settings"]
assert s["max_split_size"] == -1 and s["expandable_segments"] is False
assert s["garbage_collection_threshold"] == 0.0
assert type(s["garbage_collection_threshold"]) is float
assert len(s["roundup_power2_divisions"]) == 16
assert p["device_name"] == "manual:0"'
tap_done
