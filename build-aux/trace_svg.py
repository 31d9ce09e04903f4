"""Draws a part of a file of the trace layer as SVG:

    trace_svg.py TRACE OUT [--from NAME] [--least US]

A band for each thread with its calls, and for each stream with what it ran, in
the same time; a line leads from a call to its run. Kernels of one family have
one colour, and below is what each family took. Drawn is the time between the
ends of two runs of kernels whose names begin with NAME, such as an optimiser's
step, the shortest that lasted LEAST microseconds; without NAME all of it."""
import argparse
import json

WIDTH, LEFT, RIGHT, TOP, BOX, GAP = 1180, 128, 14, 40, 26, 62
CALLS = "#c9c9d4"
COPIES = {"gpu_memcpy": ("copies", "#f0a030"), "gpu_memset":
          ("fills", "#c77f1a"), "host_function": ("host functions", "#777777")}
PALETTE = ["#2f6fd0", "#2f9e58", "#b5428f", "#d2493a", "#6d54c9", "#1f98a8",
           "#8a8f1c", "#946238", "#5f7f9f", "#d0789f"]


def escape(text):
    return (text.replace("&", "&amp;").replace("<", "&lt;")
            .replace(">", "&gt;").replace('"', "&quot;"))


def read(path):
    """The names of rows, and the spans."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    try:
        events = json.loads(text)["traceEvents"]
    except json.JSONDecodeError:  # of a program killed while it wrote
        text = text[:text.rindex("\n")].rstrip(",") + "]}"
        events = json.loads(text)["traceEvents"]
    names = [e for e in events if e["ph"] == "M"]
    process = {e["pid"]: e["args"]["name"] for e in names
               if e["name"] == "process_name"}
    rows = {(e["pid"], e["tid"]): (process[e["pid"]], e["args"]["name"])
            for e in names if e["name"] == "thread_name"}
    return rows, [e for e in events if e["ph"] == "X"]


def is_call(event):
    return event["cat"] == "cuda_runtime"


def end_of(event):
    return event["ts"] + event["dur"]


def window(spans, name, least):
    """Begin and end of what is drawn."""
    runs = [e for e in spans if not is_call(e)]
    if not name:
        return min(e["ts"] for e in spans), max(map(end_of, spans))
    ends = sorted(end_of(e) for e in runs if e["name"].startswith(name))
    pairs = [p for p in zip(ends, ends[1:]) if p[1] - p[0] >= least]
    if not pairs:
        raise SystemExit(f"trace_svg.py: no two runs of {name} are "
                         f"{least:g} us apart")
    return min(pairs, key=lambda p: p[1] - p[0])


def family(event):
    return COPIES.get(event["cat"], (event["name"].split("/")[0], None))[0]


def colours(spans):
    """For each family, the longest first: colour, number of runs, time."""
    took = {}
    for event in spans:
        if not is_call(event):
            count, time = took.get(family(event), (0, 0))
            took[family(event)] = count + 1, time + event["dur"]
    fixed = dict(COPIES.values())
    left = iter(PALETTE * len(took))
    order = sorted(took, key=lambda f: -took[f][1])
    return {f: (fixed.get(f) or next(left), *took[f]) for f in order}


def tick_of(length):
    """A round number of microseconds, some ten of which are the length."""
    step = 1
    while length / step > 12:
        step *= 2.5 if str(step)[0] == "2" else 2
    return step


class Picture:
    def __init__(self, begin, end, bands):
        self.begin, self.scale = begin, (WIDTH - LEFT - RIGHT) / (end - begin)
        self.out, self.bottom = [], TOP + GAP * (bands - 1) + BOX

    def x(self, time):
        return LEFT + (time - self.begin) * self.scale

    def text(self, x, y, text, more=""):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" {more}>'
                        f'{escape(text)}</text>')

    def ticks(self, end):
        step, at = tick_of(end - self.begin), 0
        while at <= end - self.begin:
            x = self.x(self.begin + at)
            self.out.append(f'<path d="M{x:.1f} {TOP - 8}V{self.bottom + 6}" '
                            'stroke="#e4e4e8"/>')
            self.text(x, TOP - 14, f"{at:g} µs",
                      'text-anchor="middle" fill="#666"')
            at += step

    def box(self, event, y, colour):
        begin, end = self.x(event["ts"]), self.x(end_of(event))
        begin, end = max(begin, LEFT), min(end, WIDTH - RIGHT)
        width = max(end - begin, 0.7)
        label = f'{event["name"]}: {event["dur"]:.1f} µs'
        edge = 'stroke="#fff" stroke-width="0.5" ' if width > 2 else ""
        self.out.append(f'<rect x="{begin:.1f}" y="{y}" width="{width:.1f}" '
                        f'height="{BOX}" fill="{colour}" {edge}>'
                        f'<title>{escape(label)}</title></rect>')
        name = event["name"].split("/")[-1]
        for short in name, name.rsplit("_", 1)[0], name.split("_")[0]:
            if len(short) * 5.8 + 6 <= width:
                ink = "#333" if is_call(event) else "#fff"
                self.text(begin + width / 2, y + BOX / 2 + 3.5, short,
                          f'text-anchor="middle" font-size="10" fill="{ink}"')
                break

    def flow(self, call, run, y, to, colour):
        x1, x2 = self.x(call["ts"]), self.x(run["ts"])
        y1, middle = y + BOX, (y + BOX + to) / 2
        self.out.append(f'<path d="M{x1:.1f} {y1}C{x1:.1f} {middle} '
                        f'{x2:.1f} {middle} {x2:.1f} {to}" fill="none" '
                        f'stroke="{colour}" stroke-width="0.7" '
                        'opacity="0.6"/>')

    def legend(self, families):
        x, y = LEFT, self.bottom + 34
        entries = [(f"{f}  {n} × {time / n:.1f} µs", c)
                   for f, (c, n, time) in families.items()]
        for label, colour in [("calls", CALLS)] + entries:
            width = 24 + 5.9 * len(label)
            if x + width > WIDTH - RIGHT:
                x, y = LEFT, y + 20
            self.out.append(f'<rect x="{x:.1f}" y="{y - 9}" width="11" '
                            f'height="11" fill="{colour}"/>')
            self.text(x + 16, y + 0.5, label)
            x += width
        return y + 14

    def write(self, path, height):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" '
                f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
                f'height="{height}" font-family="sans-serif" font-size="11">')
        back = f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([head, back, *self.out, "</svg>", ""]))


def draw(rows, spans, begin, end, path):
    inside = [e for e in spans if e["ts"] < end and end_of(e) > begin]
    families = colours(inside)
    used = sorted({(e["pid"], e["tid"]) for e in inside},
                  key=lambda r: (rows[r][0] != "calls", r))
    place = {row: TOP + GAP * i for i, row in enumerate(used)}
    picture = Picture(begin, end, len(used))
    picture.ticks(end)
    calls = {e["args"]["correlation"]: e for e in inside if is_call(e)}
    for event in inside:
        call = calls.get(event["args"]["correlation"])
        if not is_call(event) and call and event["ts"] >= begin and \
                call["ts"] >= begin:
            picture.flow(call, event, place[call["pid"], call["tid"]],
                         place[event["pid"], event["tid"]],
                         families[family(event)][0])
    for row, y in place.items():
        process, name = rows[row]
        picture.text(8, y + BOX / 2 - 2, process, 'font-weight="bold"')
        picture.text(8, y + BOX / 2 + 11, name, 'fill="#555"')
    for event in sorted(inside, key=lambda e: -e["dur"]):
        colour = CALLS if is_call(event) else families[family(event)][0]
        picture.box(event, place[event["pid"], event["tid"]], colour)
    picture.write(path, picture.legend(families))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("out")
    parser.add_argument("--from", dest="name")
    parser.add_argument("--least", type=float, default=0)
    given = parser.parse_args()
    rows, spans = read(given.trace)
    begin, end = window(spans, given.name, given.least)
    draw(rows, spans, begin, end, given.out)


main()
