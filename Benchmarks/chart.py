#!/usr/bin/env python3
"""Draws Benchmarks/cost.svg from what `./dev bench session` printed: CPU a request at 64 tasks and 1,000 different queries, one bar a client. Prints the
sentence that README.md has of it.

./dev bench chart [OUTPUT [PICTURE]]. OUTPUT is a file with the benchmark's output, PICTURE the file that is drawn; Benchmarks/session.txt and
Benchmarks/cost.svg if not given. The picture follows the reader's light or dark theme.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LABELS = {"wrk": "wrk (in C)", "go": "Go's net/http", "curl": "libcurl multi (in C)", "session": "Uncurl's URLSession",
          "manager": "Uncurl's manager", "ahc": "AsyncHTTPClient", "foundation": "FoundationNetworking"}
OURS = {"session", "manager"}
LEFT, WIDTH, ROW = 190, 720, 34


def costs(text):
    """By program, microseconds a request at 64 tasks, for 1,000 different queries."""
    part = re.search(r"^64 tasks, 1,000 queries: wrk ([\d.]+).*\n((?:  .*\n?)+)", text, re.M)
    if not part:
        raise SystemExit("chart: this is no output of ./dev bench session")
    found = {"wrk": float(part.group(1))}
    for name, value in re.findall(r"^  ([a-z]+): ([\d.]+) µs", part.group(2), re.M):
        found[name] = float(value)
    return dict(sorted(((name, found[name]) for name in LABELS if name in found), key=lambda row: row[1]))


def rounds(text):
    """How many times each program ran, in turn with the others."""
    found = re.search(r"medians of (\d+) rounds?", text)
    if not found:
        raise SystemExit("chart: the output does not say of how many rounds its medians are")
    return int(found.group(1))


def sentence(values):
    """The first line of README.md."""
    ours = values["session"]
    others = ", ".join(f"{LABELS[name]} {value:g}" for name, value in values.items() if name not in OURS | {"wrk"})
    ratios = ", ".join(f"{ours / values[name]:.2f} of {LABELS[name]}" for name in ("ahc", "foundation", "curl", "go") if name in values)
    return f"{ours:g} µs of `session.data(from:)` for each of 1,000 different queries at 64 tasks: {others} ({ratios})"


def picture(values, count):
    most = max(values.values())
    height = ROW * len(values) + 62
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"',
        '     aria-label="CPU a request in microseconds, 1,000 different queries, 64 at a time: '
        + ", ".join(f"{LABELS[name]} {value:g}" for name, value in values.items()) + '">',
        "<style>",
        "text { font: 14px system-ui, sans-serif; fill: #24292f } .small { font-size: 12px; fill: #57606a }",
        ".ours { fill: #0a7d4f } .theirs { fill: #8c959f }",
        "@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 }",
        "  .ours { fill: #3fb97f } .theirs { fill: #6e7681 } }",
        "</style>",
        '<text x="0" y="18">CPU a request: 1,000 different queries, 64 at a time (µs, less is better)</text>',
    ]
    for index, (name, value) in enumerate(values.items()):
        top = 34 + index * ROW
        length = max(2.0, (WIDTH - LEFT - 70) * value / most)
        kind = "ours" if name in OURS else "theirs"
        lines.append(f'<text x="{LEFT - 10}" y="{top + 17}" text-anchor="end">{LABELS[name]}</text>')
        lines.append(f'<rect class="{kind}" x="{LEFT}" y="{top + 2}" width="{length:.1f}" height="{ROW - 12}" rx="3"/>')
        lines.append(f'<text x="{LEFT + length + 8:.1f}" y="{top + 17}">{value:g}</text>')
    lines.append(f'<text class="small" x="0" y="{height - 10}">Medians of {count} rounds in turn on a noisy machine of two cores (./dev bench session): compare the ratios.</text>')
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "session.txt")
    if not os.path.exists(source):
        raise SystemExit(f"chart: no {source}: ./dev bench session | tee {source} makes it")
    with open(source, encoding="utf-8") as f:
        text = f.read()
    values = costs(text)
    target = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "cost.svg")
    with open(target, "w", encoding="utf-8") as f:
        f.write(picture(values, rounds(text)))
    print(f"{os.path.relpath(target)}: " + ", ".join(f"{name} {value:g} µs" for name, value in values.items()))
    print(sentence(values))


if __name__ == "__main__":
    main()
