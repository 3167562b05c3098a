#!/usr/bin/env python3
"""volley against gcannon, a load generator in C on io_uring: CPU a request on the same nginx, one request at a time on a connection.

./dev bench gcannon [PAIRS [SECONDS]]. No package has gcannon: Benchmarks/.peers/gcannon, which git ignores, is a checkout of
https://github.com/MDA2AV/gcannon with its submodule. It needs liburing 2.4; to Debian 12's 2.3, peers/uring/liburing.h adds what is missing.

What counts is user and system time by getrusage. It has all that io_uring does for gcannon: DEFER_TASKRUN completes requests inside of the
program's own system calls, and a ring's worker threads are threads of the program. Soft interrupts count for the program that they interrupt,
except those that ksoftirqd takes over. That thread's time, and all of the client's core by /proc/stat, are printed beside it; on a machine with
other work these two have the others' time too. Requests are counted by nginx, as gcannon does not count those of its first 100 ms.
"""
import os
import subprocess
import sys

import peers
from volley_vs_wrk import CLIENT_CORE, SERVER_CORE, middle

CONNECTIONS = (64, 512, 1024)
PAIRS, SECONDS = 11, 2


def build():
    """gcannon by its own Makefile; `make` looks for its headers in our folder first."""
    folder = peers.checkout("gcannon", "https://github.com/MDA2AV/gcannon")
    headers = os.path.join(peers.ROOT, "Benchmarks", "peers", "uring")
    subprocess.run(["make", "-s"], cwd=folder, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CPATH": headers})
    return os.path.join(folder, "gcannon")


def measured(command, port, seconds):
    """Microseconds a request: the program's own, the kernel's for it, the client's core, ksoftirqd; and requests a second."""
    start = peers.served(port), peers.busy(CLIENT_CORE), peers.soft_interrupts()
    _, user, system = peers.run_split(command, CLIENT_CORE)
    core, soft = peers.busy(CLIENT_CORE) - start[1], peers.soft_interrupts() - start[2]
    count = peers.served(port) - start[0] - 1
    return tuple(value / count * 1e6 for value in (user, system, core, soft)) + (count / seconds,)


def calls(command, port):
    """System calls a request, counted by the kernel: under strace a client is so slow that each call finds more to do."""
    counted = ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", *command]
    before = peers.served(port)
    ended = subprocess.run(peers.pinned(CLIENT_CORE) + counted, capture_output=True, text=True, check=True)
    total = next(line.split(",")[0] for line in ended.stderr.splitlines() if "raw_syscalls" in line)
    return int(total) / (peers.served(port) - before - 1)


def compare(commands, port, pairs, seconds):
    results = {name: [] for name in commands}
    names = list(commands)
    for index in range(pairs):
        for name in names if index % 2 == 0 else reversed(names):
            results[name].append(measured(commands[name], port, seconds))
    print(f"{'':>8} {'user µs':>8} {'kernel µs':>10} {'core µs':>8} {'ksoftirqd µs':>13} {'req/s':>8}   medians")
    for name in names:
        user, system, core, soft, speed = (peers.median(column) for column in zip(*results[name]))
        print(f"{name:>8} {user:>8.2f} {system:>10.2f} {core:>8.2f} {soft:>13.3f} {speed:>8.0f}")
    for name in names[1:]:
        rows = list(zip(results[names[0]], results[name]))
        own = sorted(sum(ours[:2]) / sum(theirs[:2]) for theirs, ours in rows)
        core = sorted(ours[2] / theirs[2] for theirs, ours in rows)
        speed = sorted(ours[4] / theirs[4] for theirs, ours in rows)
        print(f"CPU a request, {name} over {names[0]}: {middle(own)}; of the core: {middle(core)}; requests a second: {middle(speed)}")


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    gcannon = build()
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    print(f"# {peers.machine()}; client on core {CLIENT_CORE}, nginx on core {SERVER_CORE}; {pairs} pairs of {seconds} s; load {os.getloadavg()[0]:.1f}")
    with peers.nginx(SERVER_CORE) as port, peers.compiled("bare.c") as bare:
        url = f"http://127.0.0.1:{port}/"
        for connections in CONNECTIONS:
            common = ["-c", str(connections), "-d", f"{seconds}s", url]
            commands = {
                # Its history of runs goes nowhere.
                "gcannon": ["env", "HOME=/nonexistent", gcannon, "-t", "1", *common],
                "volley": [volley, "-t1", "--format", "wrk", "--no-progress", "-T", "30s", *common],
                "bare": [bare, str(port), str(seconds), str(connections)],
            }
            print(f"## {connections} connections")
            compare(commands, port, pairs, seconds)
            for name, command in commands.items():
                print(f"system calls a request, {name}: {calls(command, port):.3f}")
    print(f"# load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    sys.exit(main())
