#!/usr/bin/env python3
"""A form of many 1-GiB files to a server that drops them, plain and over TLS: CPU and memory of Uncurl against curl -F.
./dev bench multipart [GIB]: ten of them without."""
import multiprocessing
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import peers
import upload

GIB = 1 << 30
ROUNDS = 5
# What the program may grow by while it sends, in KiB.
GROWTH = 8 << 10


def build():
    folder = os.path.join(peers.ROOT, "Benchmarks", "Forms")
    subprocess.run(["swift", "build", "-c", "release", "--product", "form", "-Xswiftc", "-enforce-exclusivity=unchecked"],
                   cwd=folder, check=True, stdout=sys.stderr)
    return os.path.join(folder, ".build", "release", "form")


def measure(command):
    """(CPU seconds, wall seconds, what it said)"""
    start = time.monotonic()
    process = subprocess.Popen(peers.pinned(upload.CLIENT_CORE) + command, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, said


def compare(form, url, authority, files):
    fields = [word for index, file in enumerate(files) for word in ("-F", f"file{index}=@{file}")]
    clients = {
        "form": [form, url, *files],
        "curl": ["curl", "-sS", "--fail", "-o", "/dev/null", "--cacert", authority, *fields, url],
    }
    results = {name: [] for name in clients}
    for _ in range(ROUNDS):
        for name, command in clients.items():
            results[name].append(measure(command))
    for name in clients:
        cpu, wall = (peers.median([result[column] for result in results[name]]) for column in (0, 1))
        print(f"{name:>6}: {cpu / len(files):.3f} CPU-s/GiB, {len(files) / wall:.2f} GiB/s")
    ratio = peers.median([ours[0] / theirs[0] for ours, theirs in zip(results["form"], results["curl"])])
    growth = max(int(peak) - int(before) for before, peak in (result[2].split() for result in results["form"]))
    print(f"CPU of the form to curl's: {ratio:.2f} (median of {ROUNDS} pairs of {len(files)} GiB), at most 1; "
          f"it grew by {growth} KiB at most while it sent, {GROWTH} allowed")
    return ratio <= 1 and growth <= GROWTH


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    form = build()
    print(f"# {peers.machine()}")
    held = True
    with tempfile.TemporaryDirectory() as folder:
        authority = peers.certificate(folder)
        os.environ["SSL_CERT_FILE"] = authority
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "leaf.pem"), os.path.join(folder, "leaf.key"))
        # One file under all names: the page cache holds one of them, and what is measured is no disk.
        large = os.path.join(folder, "large")
        with open(large, "wb") as file:
            file.truncate(GIB)
        subprocess.run(["cat", large], check=True, stdout=subprocess.DEVNULL)
        for scheme, tls in (("http", None), ("https", context)):
            listener = socket.create_server(("127.0.0.1", 0))
            server = multiprocessing.Process(target=upload.serve, args=(listener, tls), daemon=True)
            server.start()
            print(f"-- {scheme}")
            held &= compare(form, f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/sink", authority, [large] * count)
            server.terminate()
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
