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


def compare(form, url, authority, files):
    fields = [word for index, file in enumerate(files) for word in ("-F", f"file{index}=@{file}")]
    clients = {
        "form": [form, url, *files],
        "curl": ["curl", "-sS", "--fail", "-o", "/dev/null", "--cacert", authority, *fields, url],
    }
    results = {name: [] for name in clients}
    for _ in range(ROUNDS):
        for name, command in clients.items():
            results[name].append(upload.measure(command))
    for name in clients:
        cpu, wall, begin, growth = (peers.median(column) for column in zip(*results[name]))
        print(f"{name:>6}: {cpu / len(files):.3f} CPU-s/GiB, {len(files) / wall:.2f} GiB/s, "
              f"{begin} KiB resident after 50 ms, {growth:+} KiB from there to the peak")
    ratio = peers.median([ours[0] / theirs[0] for ours, theirs in zip(results["form"], results["curl"])])
    worst = max(result[3] for result in results["form"])
    print(f"CPU of the form to curl's: {ratio:.2f} (median of {ROUNDS} pairs of {len(files)} GiB), at most 1; "
          f"it grew by {worst} KiB at most, {GROWTH} allowed")
    return ratio <= 1 and worst <= GROWTH


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
