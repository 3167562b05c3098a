#!/usr/bin/env python3
"""This tree against another commit of its own: CPU a request of a session, of a manager and of volley, and of a download by the engine, in one run, in
turn; and instructions and allocations a request of a session, a manager and the engine, which no other program on the machine changes.

./dev bench before COMMIT [PAIRS]. The commit is checked out and built in .build-before, once. Without pairs (0) there are instructions and allocations alone.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import clients
import peers

CLIENT_CORE, SERVER_CORE = 0, 1
PAIRS = 15
DOWNLOAD = 1 << 30
FOLDER = os.path.join(peers.ROOT, ".build-before")
# Name: program, tasks, requests.
RUNS = {"session, 64 tasks": ("session", 64, 60_000), "session, one task": ("session", 1, 20_000),
        "manager, 64 tasks": ("manager", 64, 60_000)}


def built(root):
    """The programs of the tree at `root`; `fetch` is the smallest on the engine, which makes each request anew."""
    here = os.path.join(root, "Benchmarks", "Clients")
    for name in ("session", "manager"):
        subprocess.run(["swift", "build", "-c", "release", "--product", name], cwd=here, check=True, stdout=sys.stderr)
    engine = os.path.join(root, "Benchmarks")
    subprocess.run(["swift", "build", "-c", "release", "--product", "EngineBenchmarks"], cwd=engine, check=True, stdout=sys.stderr)
    # Earlier trees have no tools/.
    tool = os.path.join(root, "tools", "build")
    build = [tool] if os.path.exists(tool) else [os.path.join(root, "dev"), "build"]
    for name in ("volley", "fetch"):
        subprocess.run([*build, name], check=True, stdout=sys.stderr, stderr=subprocess.DEVNULL)
    return {name: os.path.join(folder, ".build", "release", name)
            for folder, names in ((here, ("session", "manager")), (engine, ("EngineBenchmarks",)), (root, ("volley", "fetch")))
            for name in names}


def earlier(commit):
    root = os.path.join(FOLDER, commit)
    if not os.path.exists(root):
        subprocess.run(["git", "clone", "-q", "--no-checkout", peers.ROOT, root], check=True)
        subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=root, check=True)
        # The same programs on its libraries: an earlier driver knows one URL alone.
        for name in ("Driver", "session", "manager"):
            shutil.copytree(os.path.join(clients.HERE, "Clients", "Sources", name),
                            os.path.join(root, "Benchmarks", "Clients", "Sources", name), dirs_exist_ok=True)
    return built(root)


def volley(binary, url):
    output, cpu, _ = peers.run([binary, "-t1", "-c64", "-d2s", "--format", "wrk", "--no-progress", url], CLIENT_CORE)
    return cpu / int(re.search(r"^\s*(\d+) requests in", output, re.M).group(1)) * 1e6


# Dispatch waits by a mask that lies in memory for reading alone, into which valgrind 3.19 writes.
SIGSUSPEND = """#include <signal.h>
#include <unistd.h>
int sigsuspend(const sigset_t *mask) { (void)mask; return pause(); }
"""


def instructions(command, preload=None):
    """A request's, between two runs of different length, so that what is made once does not count. `command` makes so many requests."""
    counts = [peers.instructions(command(count), preload) for count in (1_000, 4_000)]
    return (counts[1] - counts[0]) / 3_000


def engine(binary):
    """Microseconds of the engine's own thread for a request, the median of twenty bursts; the test server has the other core."""
    output, _, _ = peers.run([binary, "--quiet", "true", "--filter", "GET 128 bytes, 64 connections"])
    return float(re.search(r"CPU ns.*?^ *([\d.]+) 0\.500", output, re.M | re.S).group(1)) / 1_000


def download(binary, server, url):
    """CPU seconds for a gigabyte."""
    _, cpu, _ = peers.run([binary, "-q", "--cacert", server.authority, url + "/file"], CLIENT_CORE)
    return cpu * 1e9 / DOWNLOAD


def count(before, now):
    with peers.nginx(SERVER_CORE) as port, tempfile.TemporaryDirectory() as folder:
        url = f"http://127.0.0.1:{port}/"
        waits = os.path.join(folder, "sigsuspend.c")
        with open(waits, "w", encoding="utf-8") as source:
            source.write(SIGSUSPEND)
        preload = peers.library(folder, waits)
        mallocs = peers.library(folder, os.path.join(clients.HERE, "mallocs.c"))
        for name in ("session", "manager"):
            for tasks, queries, words in ((64, 1, "64 tasks"), (1, 1, "one task"), (64, 1_000, "64 tasks, 1,000 URLs")):
                found = [instructions(lambda count: [programs[name], url, str(tasks), str(count), *clients.asked(queries)], preload)
                         for programs in (before, now)]
                made = [clients.mallocs(programs[name], url, tasks, queries, mallocs) for programs in (before, now)]
                print(f"{name}, {words}: {found[1]:,.0f} instructions a request now, {found[1] / found[0]:.3f} of before; "
                      f"{made[1]:.1f} allocations, {made[0]:.1f} before", flush=True)
        found = [instructions(lambda count: [programs["fetch"], "-q", *[url] * count]) for programs in (before, now)]
        print(f"fetch, one connection: {found[1]:,.0f} instructions a request now, {found[1] / found[0]:.3f} of before", flush=True)


def middle(values):
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return f"{peers.median(ordered):.3f} ({ordered[quarter]:.3f}-{ordered[-quarter - 1]:.3f})"


def compare(before, now, pairs):
    with peers.nginx(SERVER_CORE) as port, peers.file_server(DOWNLOAD, SERVER_CORE) as files:
        url = f"http://127.0.0.1:{port}/"
        # Name: what it costs, and in what.
        costs = {name: (lambda programs, run=run: clients.cost(run[0], programs[run[0]], url, run[1], run[2])[0], "µs a request")
                 for name, run in RUNS.items()}
        costs["volley, 64 connections"] = lambda programs: volley(programs["volley"], url), "µs a request"
        costs["engine, 64 connections"] = lambda programs: engine(programs["EngineBenchmarks"]), "µs a request"
        for name, secure in (("plain", files.plain), ("TLS 1.3", files.secure)):
            costs[f"download of 1 GiB, {name}"] = lambda programs, root=secure: download(programs["fetch"], files, root), "CPU-s/GB"
        ratios, ours = {name: [] for name in costs}, {name: [] for name in costs}
        for index in range(pairs):
            for name, (cost, _) in costs.items():
                pair = {}
                for which in ("before", "now") if index % 2 == 0 else ("now", "before"):
                    pair[which] = cost(before if which == "before" else now)
                ratios[name].append(pair["now"] / pair["before"])
                ours[name].append(pair["now"])
        for name, (_, unit) in costs.items():
            print(f"{name}: {peers.median(ours[name]):.3g} {unit} now, {middle(ratios[name])} of before")


def main():
    if len(sys.argv) < 2:
        raise SystemExit("usage: ./dev bench before COMMIT [PAIRS]")
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else PAIRS
    before, now = earlier(sys.argv[1]), built(peers.ROOT)
    print(f"# {peers.machine()}; client on core {CLIENT_CORE}, nginx on core {SERVER_CORE}")
    count(before, now)
    if pairs:
        print(f"# CPU: medians of {pairs} pairs, and quartiles")
        compare(before, now, pairs)


if __name__ == "__main__":
    main()
