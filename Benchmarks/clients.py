#!/usr/bin/env python3
"""`await session.data(from:)` and a manager's request against AsyncHTTPClient, FoundationNetworking, libcurl's multi interface in C and Go's net/http: CPU and
allocations a request.

./dev bench session [--rounds N] [--share S] [NAMES]. One nginx on the other core, a small answer, 64 tasks and one; wrk beside them in the same run. Each client
requests one URL again and again, which it may remember, and 1,000 different queries, as most programs do. The clients are built as their users build them:
Swift's with `swift build -c release` alone. `--share 0.1` makes a tenth of the requests, to try the command.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT_CORE, SERVER_CORE = 0, 1
ROUNDS = 5
# The numbers of different queries, and what they are called in the output.
QUERIES = {1: "one URL", 1_000: "1,000 queries"}
# Tasks, requests: enough for some seconds each.
COUNTS = {"session": (60_000, 20_000), "session on its loop": (60_000, 20_000), "manager": (60_000, 20_000),
          "manager without notifications": (60_000, 20_000), "ahc": (20_000, 8_000),
          "foundation": (6_000, 2_000), "curl": (60_000, 20_000), "go": (60_000, 20_000)}
CLIENTS = ("session", "manager", "ahc", "foundation", "curl", "go")


def build(names):
    """As a user builds a program: no flags but the release's."""
    folder = os.path.join(HERE, "Clients")
    own = os.path.join(folder, ".build", "peers")
    os.makedirs(own, exist_ok=True)
    commands = {
        "curl": ["clang", "-O2", "-o", os.path.join(own, "curl"), os.path.join(folder, "multi.c"), "-lcurl"],
        "go": ["go", "build", "-o", os.path.join(own, "go"), os.path.join(folder, "Go", "main.go")],
    }
    for name in names:
        command = commands.get(name) or ["swift", "build", "-c", "release", "--product", name]
        subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
    return {name: os.path.join(own if name in commands else os.path.join(folder, ".build", "release"), name) for name in names}


# By `withTaskExecutorPreference(session.taskExecutor)`; without a notification centre; or as any program does it.
VARIANTS = {"session on its loop": ["env", "ON_LOOP=1"], "manager without notifications": ["env", "QUIET=1"]}


def asked(queries):
    """One URL is what the clients request without this argument, as those of earlier commits do."""
    return [] if queries == 1 else [str(queries)]


def cost(name, binary, url, tasks, count, queries=1):
    output, _, _ = peers.run([*VARIANTS.get(name, []), binary, url, str(tasks), str(count), *asked(queries)], CLIENT_CORE)
    match = re.search(r"cpu_us ([\d.]+) wall_us ([\d.]+)", output)
    return float(match.group(1)), float(match.group(2))


def mallocs(binary, url, tasks, queries, library):
    """Between two runs of different length, so that what is made once does not count."""
    found = []
    for count in (2_000, 12_000):
        result = subprocess.run([binary, url, str(tasks), str(count), *asked(queries)], env={**os.environ, "LD_PRELOAD": library},
                                capture_output=True, text=True, check=True)
        found.append(int(re.search(r"mallocs (\d+)", result.stderr).group(1)))
    return (found[1] - found[0]) / 10_000


# The requests are made before the run: wrk has no part in what differs.
SCRIPT = """local made, number = {{}}, 0
function init() for query = 1, {queries} do made[query] = wrk.format("GET", "/?query=" .. query) end end
function request() number = number % {queries} + 1 return made[number] end
"""


def wrk(url, connections, script=None):
    flags = ["-s", script] if script else []
    output, cpu, _ = peers.run(["wrk", "-t1", f"-c{connections}", "-d3s", *flags, url], CLIENT_CORE)
    return cpu / int(re.search(r"(\d+) requests in", output).group(1)) * 1e6


def compare(names, binaries, url, tasks, place, queries, script, options):
    costs = {name: [] for name in names}
    wrks = []
    for _ in range(options.rounds):
        wrks.append(wrk(url, tasks, script if queries > 1 else None))
        for name in names:
            count = max(tasks, int(COUNTS[name][place] * options.share))
            costs[name].append(cost(name, binaries[name.split()[0]], url, tasks, count, queries)[0])
    print(f"{tasks} task{'s' if tasks > 1 else ''}, {QUERIES[queries]}: wrk {peers.median(wrks):.1f} µs a request")
    ours = peers.median(costs["session"]) if "session" in costs else None
    for name in names:
        median = peers.median(costs[name])
        ratio = f", ours is {ours / median:.3f} of it" if ours else ""
        if name.startswith("session") or ours is None:
            ratio = ""
        elif name.startswith("manager"):
            ratio = f", {median / ours:.3f} of a session's"
        print(f"  {name}: {median:.1f} µs a request ({min(costs[name]):.1f}-{max(costs[name]):.1f}){ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench session")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(CLIENTS)}")
    options = parser.parse_args()
    for name in options.names:
        if name not in CLIENTS:
            parser.error(f"no client {name}: use any of {', '.join(CLIENTS)}")
    binaries = build([name for name in CLIENTS if not options.names or name in options.names])
    names = [name for name in COUNTS if name.split()[0] in binaries]
    with tempfile.TemporaryDirectory() as folder, peers.nginx(SERVER_CORE) as port:
        library, script = peers.library(folder, os.path.join(HERE, "mallocs.c")), os.path.join(folder, "queries.lua")
        with open(script, "w", encoding="utf-8") as f:
            f.write(SCRIPT.format(queries=max(QUERIES)))
        url = f"http://127.0.0.1:{port}/"
        print(f"# {peers.machine()}; clients on core {CLIENT_CORE}, nginx on core {SERVER_CORE}; medians of {options.rounds} rounds", flush=True)
        for queries in sorted(QUERIES, reverse=True):
            for tasks, place in ((64, 0), (1, 1)):
                compare(names, binaries, url, tasks, place, queries, script, options)
        for name in binaries:
            if name == "go":  # It has an allocator of its own.
                continue
            for queries, words in QUERIES.items():
                print(f"allocations a request, {name}, {words}: {mallocs(binaries[name], url, 64, queries, library):.1f} at 64 tasks, "
                      f"{mallocs(binaries[name], url, 1, queries, library):.1f} at one", flush=True)


if __name__ == "__main__":
    main()
