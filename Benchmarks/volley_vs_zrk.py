#!/usr/bin/env python3
"""volley against zrk, an open-loop load generator in Zig, on the same nginx: CPU a request by a schedule, and memory at 10,000 connections.

./dev bench zrk [RATE [PAIRS [SECONDS]]]. No package has zrk: Benchmarks/.peers/zrk, which git ignores, is a checkout of
https://github.com/zoxy-io/zrk, built by the Zig of PyPI; `zig build` fetches what zrk depends on from GitHub. ZRK=PATH takes a zrk that is built.

CPU and requests are counted as against gcannon (volley_vs_gcannon.py), memory as by `./dev bench memory`: private memory at its peak.
"""
import os
import subprocess
import sys
import tempfile
import time

import peers
from connections import resident
from volley_vs_gcannon import compare
from volley_vs_wrk import SERVER_CORE

CONNECTIONS, RATE, PAIRS, SECONDS = 64, 20_000, 9, 4
MANY, MANY_SECONDS = 10_000, 15
ZIG = "0.16.0"


def build():
    folder = peers.checkout("zrk", "https://github.com/zoxy-io/zrk")
    zig = os.path.join(peers.PEERS, f"ziglang-{ZIG}")
    if not os.path.isdir(zig):
        subprocess.run(["pip", "install", "-q", "--no-deps", "--target", zig, f"ziglang=={ZIG}"], check=True)
    environment = {**os.environ, "PYTHONPATH": zig}
    subprocess.run([sys.executable, "-m", "ziglang", "build", "-Doptimize=ReleaseFast"], cwd=folder, check=True, env=environment)
    return os.path.join(folder, "zig-out", "bin", "zrk")


def peak(command):
    """The private memory of a program at its peak, in KiB, and what it printed."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        highest = 0
        while process.poll() is None:
            try:
                highest = max(highest, resident(process.pid))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass
            time.sleep(0.25)
        output.seek(0)
        return highest, output.read().strip()


def main():
    rate, pairs, seconds = (int(given) if given else usual for given, usual in zip(sys.argv[1:] + [None] * 3, (RATE, PAIRS, SECONDS)))
    zrk = os.environ.get("ZRK") or build()
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    print(f"# {peers.machine()}; {CONNECTIONS} connections, {rate} requests/s, {pairs} pairs of {seconds} s; load {os.getloadavg()[0]:.1f}")
    with peers.nginx(SERVER_CORE) as port:
        url = f"http://127.0.0.1:{port}/"

        def both(connections, rate, seconds):
            common = ["-c", str(connections), "-R", str(rate), "-d", f"{seconds}s"]
            return {"zrk": [zrk, *common, "--plain", "--timeout", "30s", url],
                    "volley": [volley, "-t1", *common, "--format", "wrk", "--no-progress", "-T", "30s", "--max-lag", "1s", url]}

        compare(both(CONNECTIONS, rate, seconds), port, pairs, seconds)
        peaks = {}
        for name, command in both(MANY, MANY, MANY_SECONDS).items():
            before = peers.served(port)
            peaks[name], output = peak(command)
            print(f"{MANY} connections, {name}: {peaks[name]} KiB of private memory, {peers.served(port) - before - 1} requests; {output.splitlines()[-1:]}")
        print(f"zrk's memory over volley's: {peaks['zrk'] / peaks['volley']:.0f}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    sys.exit(main())
