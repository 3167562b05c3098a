#!/usr/bin/env python3
"""Whether a long run at full speed keeps its memory: all outputs on, memory looked at each second.

./dev bench hours [SECONDS]: an hour is 3600. Fails if the last quarter's median lies more than 8 MiB above that of the second: the course that is
kept for the page grows to 6 MiB and no further.
"""
import os
import subprocess
import sys
import tempfile
import time

import peers
from connections import resident

ALLOWED = 8192


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    print(f"# {peers.machine()}")
    with tempfile.TemporaryDirectory() as folder, peers.nginx() as port:
        # An interval of 100 ms makes as many of them in six minutes as an hour has.
        command = [volley, "-t1", "-c64", f"-d{seconds}s", "--timeout", "30s", "--no-progress", "--interval", "100ms",
                   "--prometheus", "0", "-q", "--format", "requests=/dev/null", "--format", "wrk"]
        for name in ("json", "html", "csv", "hlog"):
            command += ["--format", f"{name}={folder}/{name}"]
        command.append(f"http://127.0.0.1:{port}/")
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
    early, late = peers.median(seen[quarter:2 * quarter]), peers.median(seen[3 * quarter:])
    print(output.strip().splitlines()[-2])
    print("private memory, KiB: " + " ".join(str(v) for v in seen[:: max(1, len(seen) // 12)]))
    print(f"exit {process.returncode}; median of the second quarter {early:.0f} KiB, of the last {late:.0f} KiB")
    if late > early + ALLOWED:
        sys.exit("memory grew")


if __name__ == "__main__":
    main()
