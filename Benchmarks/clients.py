#!/usr/bin/env python3
"""`await session.data(from:)` against FoundationNetworking and AsyncHTTPClient, and a manager's request against a session's: CPU and allocations a request.

./dev bench session [NAMES]. One nginx on the other core, a small answer, 64 tasks and one; wrk beside them in the same run.
"""
import os
import re
import subprocess
import sys
import tempfile

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT_CORE, SERVER_CORE = 0, 1
ROUNDS = 5
# URL, tasks, requests: enough for some seconds each.
COUNTS = {"session": (60_000, 20_000), "session on its loop": (60_000, 20_000), "manager": (60_000, 20_000),
          "manager without notifications": (60_000, 20_000), "ahc": (20_000, 8_000),
          "foundation": (6_000, 2_000)}


def build(names):
    folder = os.path.join(HERE, "Clients")
    for name in names:
        subprocess.run(["swift", "build", "-c", "release", "--product", name, "-Xswiftc", "-enforce-exclusivity=unchecked"],
                       cwd=folder, check=True, stdout=sys.stderr)
    return {name: os.path.join(folder, ".build", "release", name) for name in names}


# By `withTaskExecutorPreference(session.taskExecutor)`; without a notification centre; or as any program does it.
VARIANTS = {"session on its loop": ["env", "ON_LOOP=1"], "manager without notifications": ["env", "QUIET=1"]}


def cost(name, binary, url, tasks, count):
    output, _, _ = peers.run([*VARIANTS.get(name, []), binary, url, str(tasks), str(count)], CLIENT_CORE)
    match = re.search(r"cpu_us ([\d.]+) wall_us ([\d.]+)", output)
    return float(match.group(1)), float(match.group(2))


def mallocs(binary, url, tasks, library):
    """Between two runs of different length, so that what is made once does not count."""
    found = []
    for count in (2_000, 12_000):
        result = subprocess.run([binary, url, str(tasks), str(count)], env={**os.environ, "LD_PRELOAD": library},
                                capture_output=True, text=True, check=True)
        found.append(int(re.search(r"mallocs (\d+)", result.stderr).group(1)))
    return (found[1] - found[0]) / 10_000


def wrk(url, connections):
    output, cpu, _ = peers.run(["wrk", "-t1", f"-c{connections}", "-d3s", url], CLIENT_CORE)
    return cpu / int(re.search(r"(\d+) requests in", output).group(1)) * 1e6


def main():
    wanted = sys.argv[1:] or ["session", "manager", "ahc", "foundation"]
    binaries = build([name for name in ("session", "manager", "ahc", "foundation") if name in wanted])
    names = [name for name in COUNTS if name.split()[0] in binaries]
    with tempfile.TemporaryDirectory() as folder, peers.nginx(SERVER_CORE) as port:
        library = os.path.join(folder, "mallocs.so")
        subprocess.run(["clang", "-O2", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "mallocs.c")], check=True)
        url = f"http://127.0.0.1:{port}/"
        print(f"# {peers.machine()}; clients on core {CLIENT_CORE}, nginx on core {SERVER_CORE}; medians of {ROUNDS} rounds")
        for tasks, place in ((64, 0), (1, 1)):
            costs = {name: [] for name in names}
            wrks = []
            for _ in range(ROUNDS):
                wrks.append(wrk(url, tasks))
                for name in names:
                    one = cost(name, binaries[name.split()[0]], url, tasks, COUNTS[name][place])
                    costs[name].append(one[0])
            print(f"{tasks} task{'s' if tasks > 1 else ''}: wrk {peers.median(wrks):.1f} µs a request")
            ours = peers.median(costs["session"])
            for name in names:
                median = peers.median(costs[name])
                ratio = f", ours is {ours / median:.3f} of it"
                if name.startswith("manager"):
                    ratio = f", {median / ours:.3f} of a session's"
                elif name.startswith("session"):
                    ratio = ""
                print(f"  {name}: {median:.1f} µs a request ({min(costs[name]):.1f}-{max(costs[name]):.1f}){ratio}")
        for name in binaries:
            print(f"allocations a request, {name}: {mallocs(binaries[name], url, 64, library):.1f} at 64 tasks, "
                  f"{mallocs(binaries[name], url, 1, library):.1f} at one")


if __name__ == "__main__":
    main()
