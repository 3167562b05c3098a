#!/usr/bin/env python3
"""This tree against another commit of its own: CPU a request of a session, of a manager and of volley, in one run, in turn.

./dev bench before COMMIT [PAIRS]. The commit is checked out and built in .build-before, once.
"""
import os
import re
import subprocess
import sys

import clients
import peers

CLIENT_CORE, SERVER_CORE = 0, 1
PAIRS = 15
FOLDER = os.path.join(peers.ROOT, ".build-before")
# Name: program, tasks, requests.
RUNS = {"session, 64 tasks": ("session", 64, 60_000), "session, one task": ("session", 1, 20_000),
        "manager, 64 tasks": ("manager", 64, 60_000)}


def built(root):
    """The three programs of the tree at `root`."""
    here = os.path.join(root, "Benchmarks", "Clients")
    for name in ("session", "manager"):
        subprocess.run(["swift", "build", "-c", "release", "--product", name], cwd=here, check=True, stdout=sys.stderr)
    subprocess.run([os.path.join(root, "dev"), "build", "volley"], check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)
    return {"session": os.path.join(here, ".build", "release", "session"),
            "manager": os.path.join(here, ".build", "release", "manager"),
            "volley": os.path.join(root, ".build", "release", "volley")}


def earlier(commit):
    root = os.path.join(FOLDER, commit)
    if not os.path.exists(root):
        subprocess.run(["git", "clone", "-q", "--no-checkout", peers.ROOT, root], check=True)
        subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=root, check=True)
    return built(root)


def volley(binary, url):
    output, cpu, _ = peers.run([binary, "-t1", "-c64", "-d2s", "--format", "wrk", "--no-progress", url], CLIENT_CORE)
    return cpu / int(re.search(r"^\s*(\d+) requests in", output, re.M).group(1)) * 1e6


def middle(values):
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return f"{peers.median(ordered):.3f} ({ordered[quarter]:.3f}-{ordered[-quarter - 1]:.3f})"


def compare(before, now, pairs):
    with peers.nginx(SERVER_CORE) as port:
        url = f"http://127.0.0.1:{port}/"
        costs = {name: (lambda programs, run=run: clients.cost(run[0], programs[run[0]], url, run[1], run[2])[0])
                 for name, run in RUNS.items()}
        costs["volley, 64 connections"] = lambda programs: volley(programs["volley"], url)
        ratios, ours = {name: [] for name in costs}, {name: [] for name in costs}
        for index in range(pairs):
            for name, cost in costs.items():
                pair = {}
                for which in ("before", "now") if index % 2 == 0 else ("now", "before"):
                    pair[which] = cost(before if which == "before" else now)
                ratios[name].append(pair["now"] / pair["before"])
                ours[name].append(pair["now"])
        for name in costs:
            print(f"{name}: {peers.median(ours[name]):.2f} µs a request now, {middle(ratios[name])} of before")


def main():
    if len(sys.argv) < 2:
        raise SystemExit("usage: ./dev bench before COMMIT [PAIRS]")
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else PAIRS
    before, now = earlier(sys.argv[1]), built(peers.ROOT)
    print(f"# {peers.machine()}; client on core {CLIENT_CORE}, nginx on core {SERVER_CORE}; medians of {pairs} pairs, and quartiles")
    compare(before, now, pairs)


if __name__ == "__main__":
    main()
