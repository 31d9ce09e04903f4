"""Draws a file of the trace layer as SVG: trace_svg.py TRACE OUT.

A band for each row, a box for each span, a line for each flow; colours tell
kernels, copies, fills, host functions and calls apart. WINDOW
microseconds from the middle of the work are drawn."""
import json
import sys

WIDTH, BAND, LEFT, WINDOW = 980, 30, 180, 400.0
COLOURS = {"cuda_runtime": "#b8b8c8", "kernel": "#3b7dd8",
           "gpu_memcpy": "#e0902f", "gpu_memset": "#8a5bc0",
           "host_function": "#3fa65a"}
NAMES = {"cuda_runtime": "calls", "kernel": "kernels",
         "gpu_memcpy": "copies", "gpu_memset": "fills",
         "host_function": "host functions"}


def escape(text):
    return (text.replace("&", "&amp;").replace("<", "&lt;")
            .replace(">", "&gt;").replace('"', "&quot;"))


def read(path):
    with open(path, encoding="ascii") as file:
        events = json.load(file)["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in events
               if e["ph"] == "M" and e["name"] == "process_name"}
    rows = {(e["pid"], e["tid"]):
            (process.get(e["pid"], "") + ": " + e["args"]["name"])
            for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    return rows, [e for e in events if e["ph"] == "X"]


def select(spans):
    """From the call behind the middle run on, clipped to the window."""
    runs = sorted((e for e in spans if e["cat"] != "cuda_runtime"),
                  key=lambda e: e["ts"])
    middle = runs[len(runs) // 2]["args"]["correlation"]
    begin = next(e["ts"] for e in spans if e["cat"] == "cuda_runtime" and
                 e["args"]["correlation"] == middle)
    inside = []
    for event in spans:
        start = max(event["ts"], begin)
        end = min(event["ts"] + event["dur"], begin + WINDOW)
        if start < end:
            inside.append({**event, "from": start, "for": end - start})
    return begin, inside


def box(out, x, y, width, event):
    label = f'{event["name"]}: {event["dur"]:.3f} us'
    out.append(f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.6):.1f}" '
               f'height="{BAND - 8}" fill="{COLOURS[event["cat"]]}">'
               f'<title>{escape(label)}</title></rect>')
    room = int(width / 5.6)
    if room >= 5:
        name = event["name"].split("/")[-1][:room]
        out.append(f'<text x="{x + 2:.1f}" y="{y + 13}" fill="#fff" '
                   f'font-size="9">{escape(name)}</text>')


def legend(out, seen, y):
    x = LEFT
    for cat in COLOURS:
        if cat in seen:
            out.append(f'<rect x="{x}" y="{y}" width="10" height="10" '
                       f'fill="{COLOURS[cat]}"/><text x="{x + 14}" '
                       f'y="{y + 9}">{NAMES[cat]}</text>')
            x += 110


def draw(rows, spans):
    begin, spans = select(spans)
    scale = (WIDTH - LEFT - 30) / WINDOW
    used = [r for r in rows if any((e["pid"], e["tid"]) == r for e in spans)]
    height = 40 + BAND * len(used) + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>']
    for tick in range(0, int(WINDOW) + 1, int(WINDOW) // 6):
        x = LEFT + tick * scale
        out.append(f'<path d="M{x:.1f} 22V{height - 32}" stroke="#ddd"/>'
                   f'<text x="{x:.1f}" y="16" text-anchor="middle" '
                   f'fill="#555">{tick} us</text>')
    places = {}
    for index, row in enumerate(used):
        y = 34 + index * BAND
        out.append(f'<text x="6" y="{y + 13}">{escape(rows[row][:30])}'
                   '</text>')
        mine = [e for e in spans if (e["pid"], e["tid"]) == row]
        for event in sorted(mine, key=lambda e: -e["for"]):
            x = LEFT + (event["from"] - begin) * scale
            box(out, x, y, event["for"] * scale, event)
            id = event["args"]["correlation"]
            if id:
                places.setdefault(id, []).append((x, y))
    for ends in places.values():
        if len(ends) == 2:
            (x1, y1), (x2, y2) = sorted(ends, key=lambda p: p[1])
            out.append(f'<path d="M{x1:.1f} {y1 + BAND - 8}L{x2:.1f} {y2}" '
                       'stroke="#888" stroke-width="0.5"/>')
    legend(out, {e["cat"] for e in spans}, height - 20)
    return "\n".join(out + ["</svg>", ""])


def main():
    picture = draw(*read(sys.argv[1]))
    with open(sys.argv[2], "w", encoding="ascii") as file:
        file.write(picture)


main()
