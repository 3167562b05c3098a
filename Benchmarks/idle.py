#!/usr/bin/env python3
"""What a parked connection costs in user memory, plain and TLS 1.3, against the bars 1.5 and 22 KiB. ./dev bench idle"""
import os
import subprocess
import sys

import peers

COUNT = 2000


def main():
    folder = os.path.join(peers.ROOT, "Benchmarks")
    subprocess.run(["swift", "build", "-c", "release", "--product", "IdleConnections"], check=True, cwd=folder,
                   stdout=subprocess.DEVNULL)
    program = os.path.join(folder, ".build", "release", "IdleConnections")
    print(f"# {peers.machine()}")
    with peers.file_server(1) as server:
        os.environ["SSL_CERT_FILE"] = server.authority
        for name, url in (("plain", server.plain), ("TLS 1.3", server.secure)):
            output, _, _ = peers.run([program, url + "/", str(COUNT)])
            print(f"{name:>8}: {output.strip()}")


if __name__ == "__main__":
    sys.exit(main())
