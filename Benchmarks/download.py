#!/usr/bin/env python3
"""CPU for a gigabyte: fetch against curl, a large download from the same nginx, plain and over TLS.
./dev bench download"""
import os
import statistics
import sys

import peers

PAIRS = 5
SIZE = 1 << 30


def gigabyte_cost(command):
    _, cpu, wall = peers.run(command)
    return cpu * 1e9 / SIZE, wall


def main():
    fetch = peers.build("fetch")
    print(f"# {peers.machine()}")
    with peers.file_server(SIZE) as server:
        os.environ["SSL_CERT_FILE"] = server.authority
        for name, url in (("plain", server.plain + "/file"), ("TLS", server.secure + "/file")):
            ours, theirs, ratios = [], [], []
            for _ in range(PAIRS):
                mine, _ = gigabyte_cost([fetch, url])
                other, _ = gigabyte_cost(["curl", "-s", "-o", "/dev/null", "--cacert", server.authority, url])
                ours.append(mine)
                theirs.append(other)
                ratios.append(mine / other)
            print(f"{name:>5}: fetch {statistics.median(ours):.3f} CPU-s/GB, curl {statistics.median(theirs):.3f}; "
                  f"ratio, median of {PAIRS} pairs: {statistics.median(ratios):.2f} "
                  f"({', '.join(f'{ratio:.2f}' for ratio in ratios)})")


if __name__ == "__main__":
    sys.exit(main())
