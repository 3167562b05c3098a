#!/usr/bin/env python3
"""volley against wrk on the same nginx: system calls and CPU a request, requests a second.

./dev bench wrk, and over TLS ./dev bench wrk-tls, where volley verifies the server and wrk does not. A bare C client runs with them
(bare.c, bare_tls.c): what the kernel's TCP and OpenSSL cost, and so how far below wrk anybody can come.

Short slices, as the machine's pace changes within seconds: what stands beside each other in a pair has had the same.
"""
import contextlib
import re
import sys
import urllib.parse

import peers

CONNECTIONS = 64
PAIRS, SECONDS = 15, 2
# Handshakes and the authorities cost tens of milliseconds once.
SECURE_PAIRS, SECURE_SECONDS = 11, 8
CLIENT_CORE, SERVER_CORE = 0, 1


def requests(output):
    return int(re.search(r"^\s*(\d+) requests in", output, re.M).group(1))


def calls(command, core):
    """System calls a request, by strace -f -c; the run is slower under it, the calls are the same."""
    traced = ["strace", "-f", "-c", "-U", "name,calls", "-o", "/tmp/uncurl-strace"] + command
    output, _, _ = peers.run(traced, core)
    table = {}
    for line in open("/tmp/uncurl-strace"):
        match = re.match(r"^\s*(\w+)\s+(\d+)\s*$", line)
        if match and match.group(1) != "total":
            table[match.group(1)] = int(match.group(2))
    count = requests(output)
    busiest = sorted(table.items(), key=lambda row: -row[1])[:5]
    return sum(table.values()) / count, ", ".join(f"{name} {number / count:.3f}" for name, number in busiest)


def main():
    is_secure = "--tls" in sys.argv[1:]
    pairs, seconds = (SECURE_PAIRS, SECURE_SECONDS) if is_secure else (PAIRS, SECONDS)
    volley = peers.build("volley")
    print(f"# {peers.machine()}; client on core {CLIENT_CORE}, nginx on core {SERVER_CORE}, {CONNECTIONS} connections"
          + (", TLS" if is_secure else ""))
    with contextlib.ExitStack() as stack:
        if is_secure:
            server = stack.enter_context(peers.file_server(0, SERVER_CORE))
            url, believing = server.secure + "/", ["--cacert", server.authority]
            bare = peers.compiled("bare_tls.c", "-lssl", "-lcrypto")
        else:
            url, believing = f"http://127.0.0.1:{stack.enter_context(peers.nginx(SERVER_CORE))}/", []
            bare = peers.compiled("bare.c")
        common = ["-t1", f"-c{CONNECTIONS}"]
        commands = {
            "wrk": ["wrk", *common, f"-d{seconds}s", url],
            "volley": [volley, *common, f"-d{seconds}s", "--format", "wrk", "--no-progress", *believing, url],
            "bare": [stack.enter_context(bare), str(urllib.parse.urlsplit(url).port), str(seconds), str(CONNECTIONS)],
        }
        results = {name: [] for name in commands}
        names = list(commands)
        for index in range(pairs):
            for name in names if index % 2 == 0 else reversed(names):
                output, user, system = peers.run_split(commands[name], CLIENT_CORE)
                count = requests(output)
                results[name].append((user / count * 1e6, system / count * 1e6, count / seconds))
        print(f"{'':>8} {'user µs':>8} {'kernel µs':>10} {'req/s':>8}   medians of {pairs} runs of {seconds} s, in turn")
        for name in names:
            user, system, speed = (peers.median(column) for column in zip(*results[name]))
            print(f"{name:>8} {user:>8.2f} {system:>10.2f} {speed:>8.0f}")
        for name in names[1:]:
            cpu = sorted(sum(ours[:2]) / sum(theirs[:2]) for theirs, ours in zip(results["wrk"], results[name]))
            speed = sorted(ours[2] / theirs[2] for theirs, ours in zip(results["wrk"], results[name]))
            print(f"CPU a request, {name} over wrk: {middle(cpu)}; requests a second: {middle(speed)}")
        for name in names[:2]:
            short = [part if not part.startswith("-d") else "-d8s" for part in commands[name]]
            total, detail = calls(short, None)
            print(f"system calls a request, {name}: {total:.3f} ({detail})")


def middle(ratios):
    """The median, and the quartiles it lies between."""
    quarter = len(ratios) // 4
    return f"{peers.median(ratios):.3f} ({ratios[quarter]:.3f}-{ratios[-quarter - 1]:.3f})"


if __name__ == "__main__":
    sys.exit(main())
