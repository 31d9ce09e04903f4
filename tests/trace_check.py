"""Checks a file of the trace layer: valid JSON of Kineto's form, spans that
nest on every row, flows that lead from a call to its run. Prints one line for
each thing that is wrong, and at the end what was counted. With --cut, of a
program that was killed, runs may be missing, and the end of the file."""
import json
import sys


def spans_nest(row, spans):
    """Spans of a row, sorted by begin, then the longer first."""
    open_ends = []
    for begin, end, name in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            print(f"row {row}: {name} at {begin} overlaps the end of another")
        open_ends.append(end)


def has_shape(event):
    """Of a span of Kineto's: what its readers need, and of which type."""
    wanted = {"name": str, "cat": str, "pid": int, "tid": int, "ts": int,
              "dur": int, "args": dict}
    for key, kind in wanted.items():
        if not isinstance(event.get(key), kind):
            print(f"a span without {key}: {event}")
            return False
    if not isinstance(event["args"].get("correlation"), int):
        print(f"a span without a correlation: {event}")
        return False
    return event["dur"] >= 0 or print(f"a negative span: {event}")


def nanoseconds(text):
    whole, _, rest = text.partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


def main(path, is_cut):
    # Times as exact numbers: a double would not hold the nanoseconds.
    with open(path, encoding="ascii") as file:
        text = file.read()
    try:
        trace = json.loads(text, parse_float=nanoseconds)
    except json.JSONDecodeError:
        # Killed in the middle of a write: each event has a line.
        if not is_cut:
            raise
        print("# cut within an event")
        text = text[:text.rindex("\n")].rstrip(",") + "]}"
        trace = json.loads(text, parse_float=nanoseconds)
    for key in ("schemaVersion", "deviceProperties", "displayTimeUnit",
                "baseTimeNanoseconds", "traceName", "traceEvents"):
        if key not in trace:
            print(f"no {key}")
    rows, calls, runs, flows = {}, {}, {}, {}
    named, processes = set(), set()
    memory = 0
    for event in trace["traceEvents"]:
        row = event["pid"], event["tid"]
        if event["ph"] == "X" and has_shape(event):
            begin = event["ts"]
            end = begin + event["dur"]
            rows.setdefault(row, []).append((begin, end, event["name"]))
            where = calls if event["cat"] == "cuda_runtime" else runs
            id = event["args"]["correlation"]
            if id and id in where:
                print(f"correlation {id} twice in {event['cat']}")
            if id:
                where[id] = row, begin, end, event
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], {})[event["ph"]] = row, event["ts"]
        elif event["ph"] == "C":
            memory += 1
        elif event["ph"] == "M":
            kind, name = event["name"], event["args"]["name"]
            if kind not in ("process_name", "thread_name") or not name:
                print(f"metadata {kind} {name!r}")
            if kind == "thread_name":
                named.add(row)
            else:
                processes.add(event["pid"])
        else:
            print(f"an event of phase {event['ph']}")
    for row, spans in rows.items():
        spans_nest(row, spans)
        if row not in named or row[0] not in processes:
            print(f"row {row} has no name")
    for id, (row, begin, end, event) in runs.items():
        if id not in calls:
            print(f"run {id} {event['name']} has no call")
            continue
        call_row, call_begin, call_end, call = calls[id]
        if begin < call_begin:
            print(f"run {id} began before its call")
        if flows.get(id) != {"s": (call_row, call_begin), "f": (row, begin)}:
            print(f"flow {id} does not lead from the call to the run")
    for id in set() if is_cut else set(calls) - set(runs):
        print(f"call {id} has no run")
    if set(flows) - set(runs):
        print("flows without runs")
    kernels = {e["name"] for _, _, _, e in runs.values()
               if e["cat"] == "kernel"}
    copies = sum(e["args"].get("bytes", 0) for _, _, _, e in runs.values()
                 if e["cat"] == "gpu_memcpy")
    total = sum(map(len, rows.values()))
    print(f"# {total} spans, {len(runs)} runs, {len(kernels)} kernels, "
          f"{copies} bytes copied, {memory} counters, {len(rows)} rows")
    return 0 if runs and kernels and memory else 1


sys.exit(main(sys.argv[1], "--cut" in sys.argv))
