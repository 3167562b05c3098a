#!/usr/bin/env python3
"""Draws Benchmarks/cost.svg from what `./dev bench session` printed: CPU a request at 64 tasks, one bar a client.

./dev bench chart [OUTPUT]. OUTPUT is a file with the benchmark's output; Benchmarks/session.txt if not given. The picture follows the reader's
light or dark theme.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LABELS = {"wrk": "wrk (in C)", "session": "Uncurl's URLSession", "manager": "Uncurl's manager", "ahc": "AsyncHTTPClient",
          "foundation": "FoundationNetworking"}
OURS = {"session", "manager"}
LEFT, WIDTH, ROW = 190, 720, 34


def costs(text):
    """By program, microseconds a request at 64 tasks."""
    part = re.search(r"^64 tasks: wrk ([\d.]+).*\n((?:  .*\n?)+)", text, re.M)
    if not part:
        raise SystemExit("chart: this is no output of ./dev bench session")
    found = {"wrk": float(part.group(1))}
    for name, value in re.findall(r"^  ([a-z]+): ([\d.]+) µs", part.group(2), re.M):
        found[name] = float(value)
    return {name: found[name] for name in LABELS if name in found}


def picture(values):
    most = max(values.values())
    height = ROW * len(values) + 62
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"',
        '     aria-label="CPU a request in microseconds, 64 requests at a time: '
        + ", ".join(f"{LABELS[name]} {value:g}" for name, value in values.items()) + '">',
        "<style>",
        "text { font: 14px system-ui, sans-serif; fill: #24292f } .small { font-size: 12px; fill: #57606a }",
        ".ours { fill: #0a7d4f } .theirs { fill: #8c959f }",
        "@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 }",
        "  .ours { fill: #3fb97f } .theirs { fill: #6e7681 } }",
        "</style>",
        f'<text x="0" y="18">CPU a request, 64 at a time (µs, less is better)</text>',
    ]
    for index, (name, value) in enumerate(values.items()):
        top = 34 + index * ROW
        length = max(2.0, (WIDTH - LEFT - 70) * value / most)
        kind = "ours" if name in OURS else "theirs"
        lines.append(f'<text x="{LEFT - 10}" y="{top + 17}" text-anchor="end">{LABELS[name]}</text>')
        lines.append(f'<rect class="{kind}" x="{LEFT}" y="{top + 2}" width="{length:.1f}" height="{ROW - 12}" rx="3"/>')
        lines.append(f'<text x="{LEFT + length + 8:.1f}" y="{top + 17}">{value:g}</text>')
    lines.append(f'<text class="small" x="0" y="{height - 10}">Drawn by ./dev bench chart from one run of ./dev bench session.</text>')
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "session.txt")
    if not os.path.exists(source):
        raise SystemExit(f"chart: no {source}: ./dev bench session | tee {source} makes it")
    with open(source, encoding="utf-8") as f:
        values = costs(f.read())
    with open(os.path.join(HERE, "cost.svg"), "w", encoding="utf-8") as f:
        f.write(picture(values))
    print("Benchmarks/cost.svg: " + ", ".join(f"{name} {value:g} µs" for name, value in values.items()))


if __name__ == "__main__":
    main()
