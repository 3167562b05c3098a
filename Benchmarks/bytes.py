#!/usr/bin/env python3
"""10 MiB of lines of 80 bytes, read byte by byte, line by line, and in the pieces that come; the median time of fifteen readings, with curl's beside it.
./dev bench bytes"""
import re
import statistics
import sys

import clients
import peers

SIZE = 10 << 20


def main():
    binary = clients.build(["trials"])["trials"]
    print(f"# {peers.machine()}")
    with peers.file_server(SIZE, line=b"x" * 79 + b"\n") as server:
        url = server.plain + "/file"
        pieces = None
        for name in ("chunks", "bytes", "lines"):
            output, _, _ = peers.run([binary, name, url])
            took = float(re.search(r"ms ([\d.]+)", output).group(1))
            pieces = pieces or took
            print(f"{name:>6}: {took:6.1f} ms, {took * 1e6 / SIZE:5.2f} ns a byte, {took / pieces:5.2f} of the pieces alone")
        walls = [peers.run(["curl", "-s", "-o", "/dev/null", url])[2] for _ in range(15)]
        print(f"  curl: {statistics.median(walls) * 1000:6.1f} ms, with the start of the program")


if __name__ == "__main__":
    sys.exit(main())
