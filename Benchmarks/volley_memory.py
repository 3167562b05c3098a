#!/usr/bin/env python3
"""Whether a long run at full speed keeps its memory: all outputs on, memory looked at each second.

./dev bench hours [SECONDS]: an hour is 3600. Fails if the last half grows by more than 2 MiB over what the first quarter reached.
"""
import os
import subprocess
import sys
import tempfile
import time

import peers
from connections import resident

ALLOWED = 2048


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    print(f"# {peers.machine()}")
    with tempfile.TemporaryDirectory() as folder, peers.nginx() as port:
        # An interval of 100 ms makes as many of them in six minutes as an hour has.
        command = [volley, "-t1", "-c64", f"-d{seconds}s", "--timeout", "30s", "--no-progress", "--interval", "100ms",
                   "--prometheus", "0", "-q", "-o", f"{folder}/a.json", "-o", f"{folder}/a.html", "-o", f"{folder}/a.csv",
                   "-o", f"{folder}/a.hlog", "--format", "requests=/dev/null", "--format", "wrk",
                   f"http://127.0.0.1:{port}/"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        start, seen = time.monotonic(), []
        while process.poll() is None:
            # The reports are made at the end, from what was kept: another phase.
            if 2 < time.monotonic() - start < seconds - 1:
                try:
                    seen.append(resident(process.pid))
                except (FileNotFoundError, ProcessLookupError, PermissionError):
                    pass
            time.sleep(1)
        output = process.communicate()[0]
    quarter = len(seen) // 4
    early, late = max(seen[: max(quarter, 1)]), max(seen[len(seen) // 2:])
    print(output.strip().splitlines()[-2])
    print("private memory, KiB: " + " ".join(str(v) for v in seen[:: max(1, len(seen) // 12)]))
    print(f"exit {process.returncode}; first quarter at most {early} KiB, last half at most {late} KiB")
    if late > early + ALLOWED:
        sys.exit("memory grew")


if __name__ == "__main__":
    main()
