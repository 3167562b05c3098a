#!/usr/bin/env python3
"""How many connections one volley holds, and what each costs it in user memory. ./dev bench memory"""
import json
import subprocess
import sys
import tempfile
import time

import peers

COUNTS = (100, 15_000)
SECONDS = 12


def resident(pid):
    """Private memory in KiB: what this process alone pays for."""
    total = 0
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith(("Private_Dirty", "Private_Clean")):
            total += int(line.split()[1])
    return total


def measure(volley, url, count):
    with tempfile.NamedTemporaryFile() as report:
        command = [volley, "-t1", f"-c{count}", f"-d{SECONDS}s", "--timeout", "30s", "--no-progress",
                   "--format", f"json={report.name}", url]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            try:
                peak = max(peak, resident(process.pid))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass
            time.sleep(0.25)
        return process.returncode, peak, json.load(open(report.name))


def main():
    volley = peers.build("volley")
    print(f"# {peers.machine()}")
    with peers.nginx() as port:
        url = f"http://127.0.0.1:{port}/"
        peaks = {}
        for count in COUNTS:
            code, peaks[count], report = measure(volley, url, count)
            print(f"{count:>6} connections: exit {code}, peak private memory {peaks[count]} KiB, report {json.dumps(report.get('requests', report))[:300]}")
        each = (peaks[COUNTS[1]] - peaks[COUNTS[0]]) * 1024 / (COUNTS[1] - COUNTS[0])
        print(f"user memory a connection beyond start-up: {each:.0f} bytes")


if __name__ == "__main__":
    sys.exit(main())
