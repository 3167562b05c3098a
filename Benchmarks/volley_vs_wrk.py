#!/usr/bin/env python3
"""volley against wrk on the same nginx: system calls and CPU a request, requests a second.

./dev bench wrk, and over TLS ./dev bench wrk-tls, where volley verifies the server and wrk does not.
"""
import contextlib
import re
import sys

import peers

CONNECTIONS = 64
SECONDS = 5
# Handshakes and the authorities cost tens of milliseconds once.
SECURE_SECONDS = 10
PAIRS = 5
CLIENT_CORE, SERVER_CORE = 0, 1


def requests(output):
    return int(re.search(r"^\s*(\d+) requests in", output, re.M).group(1))


def rate(output):
    return float(re.search(r"^Requests/sec:\s*([\d.]+)", output, re.M).group(1))


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
    seconds = SECURE_SECONDS if is_secure else SECONDS
    volley = peers.build("volley")
    print(f"# {peers.machine()}; client on core {CLIENT_CORE}, nginx on core {SERVER_CORE}, {CONNECTIONS} connections"
          + (", TLS" if is_secure else ""))
    with contextlib.ExitStack() as stack:
        if is_secure:
            server = stack.enter_context(peers.file_server(0, SERVER_CORE))
            url, believing = server.secure + "/", ["--cacert", server.authority]
        else:
            url, believing = f"http://127.0.0.1:{stack.enter_context(peers.nginx(SERVER_CORE))}/", []
        common = ["-t1", f"-c{CONNECTIONS}"]
        commands = {
            "wrk": ["wrk", *common, f"-d{seconds}s", url],
            "volley": [volley, *common, f"-d{seconds}s", "--format", "wrk", "--no-progress", *believing, url],
        }
        results = {name: [] for name in commands}
        for pair in range(PAIRS):
            order = ["wrk", "volley"] if pair % 2 == 0 else ["volley", "wrk"]
            for name in order:
                output, cpu, _ = peers.run(commands[name], CLIENT_CORE)
                results[name].append((cpu / requests(output) * 1e6, rate(output)))
        print(f"{'pair':>4} {'wrk µs':>8} {'volley µs':>10} {'ratio':>6}   {'wrk req/s':>10} {'volley req/s':>12} {'ratio':>6}")
        cpu_ratios, rate_ratios = [], []
        for index, (theirs, ours) in enumerate(zip(results["wrk"], results["volley"])):
            cpu_ratios.append(ours[0] / theirs[0])
            rate_ratios.append(ours[1] / theirs[1])
            print(f"{index + 1:>4} {theirs[0]:>8.2f} {ours[0]:>10.2f} {cpu_ratios[-1]:>6.3f}   "
                  f"{theirs[1]:>10.0f} {ours[1]:>12.0f} {rate_ratios[-1]:>6.3f}")
        print(f"CPU a request, volley over wrk, median of {PAIRS} pairs: {peers.median(cpu_ratios):.3f}")
        print(f"requests a second, volley over wrk, median of {PAIRS} pairs: {peers.median(rate_ratios):.3f}")
        for name in commands:
            short = [part if not part.startswith("-d") else "-d8s" for part in commands[name]]
            total, detail = calls(short, None)
            print(f"system calls a request, {name}: {total:.3f} ({detail})")


if __name__ == "__main__":
    sys.exit(main())
