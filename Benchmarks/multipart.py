#!/usr/bin/env python3
"""A form of many 1-GiB files to a server that drops them, plain and over TLS: CPU and memory of Uncurl against curl -F.
./dev bench multipart [GIB]: ten of them without."""
import os
import subprocess
import sys
import time

import peers
import upload

GIB = 1 << 30
ROUNDS = 5
# What the program may grow by while it sends, in KiB.
GROWTH = 8 << 10


def build():
    folder = os.path.join(peers.ROOT, "Benchmarks", "Forms")
    subprocess.run(["swift", "build", "-c", "release", "--product", "form"], cwd=folder, check=True, stdout=sys.stderr)
    return os.path.join(folder, ".build", "release", "form")


def measure(command):
    """(CPU seconds, wall seconds, what it said)"""
    start = time.monotonic()
    process = subprocess.Popen(peers.pinned(upload.CLIENT_CORE) + command, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, said


def compare(form, url, authority, files):
    fields = [word for index, file in enumerate(files) for word in ("-F", f"file{index}=@{file}")]
    clients = {
        "form": [form, url, *files],
        "curl": ["curl", "-sS", "--fail", "-o", "/dev/null", "--cacert", authority, *fields, url],
    }
    results = {name: [] for name in clients}
    for _ in range(ROUNDS):
        for name, command in clients.items():
            results[name].append(measure(command))
    for name in clients:
        cpu, wall = (peers.median([result[column] for result in results[name]]) for column in (0, 1))
        print(f"{name:>6}: {cpu / len(files):.3f} CPU-s/GiB, {len(files) / wall:.2f} GiB/s")
    ratio = peers.median([ours[0] / theirs[0] for ours, theirs in zip(results["form"], results["curl"])])
    growth = max(int(peak) - int(before) for before, peak in (result[2].split() for result in results["form"]))
    print(f"CPU of the form to curl's: {ratio:.2f} (median of {ROUNDS} pairs of {len(files)} GiB), at most 1; "
          f"it grew by {growth} KiB at most while it sent, {GROWTH} allowed")
    return ratio <= 1 and growth <= GROWTH


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    form = build()
    print(f"# {peers.machine()}")
    held = True
    # One file under all names: the page cache holds one of them, and what is measured is no disk.
    for url, authority, file in upload.sinks(GIB):
        held &= compare(form, url, authority, [file] * count)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
