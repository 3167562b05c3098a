#!/usr/bin/env python3
"""4 GiB from a sparse file to a server that drops them, plain and over TLS: CPU and memory of fetch -T against curl -T.
./dev bench upload"""
import os
import multiprocessing
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import peers

GIB = 1 << 30
SIZE = 4 * GIB
ROUNDS = 5
CLIENT_CORE, SERVER_CORE = 0, 1


def serve(listener, context):
    """Takes a request at a time. In the clear MSG_TRUNC drops bytes in the kernel, so that both clients meet a fast server."""
    os.sched_setaffinity(0, {SERVER_CORE})
    buffer = bytearray(1 << 20)
    flags = () if context else (socket.MSG_TRUNC,)
    while True:
        connection, _ = listener.accept()
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                more = connection.recv(65536)
                if not more:
                    break
                head += more
            fields, _, rest = head.partition(b"\r\n\r\n")
            if b"100-continue" in fields:
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            lengths = [line.split(b":")[1] for line in fields.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            left = int(lengths[0]) - len(rest) if lengths else 0
            while left > 0:
                count = connection.recv_into(buffer, min(left, len(buffer)), *flags)
                if count == 0:
                    break
                left -= count
            if left == 0:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def resident(pid):
    """(now, peak) in KiB. Not getrusage's, which begins with what was resident before exec."""
    try:
        fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
        return tuple(int(fields[name].split()[0]) for name in ("VmRSS", "VmHWM"))
    except (OSError, KeyError):
        return None


def measure(command):
    """(CPU seconds, wall seconds, resident KiB after 50 ms, growth from there to the peak)"""
    start = time.monotonic()
    process = subprocess.Popen(peers.pinned(CLIENT_CORE) + command, stdout=subprocess.DEVNULL)
    begin = peak = None
    while True:
        time.sleep(0.05)
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if sample := resident(process.pid):
            begin = begin or sample[0]
            peak = sample[1]
    if status != 0:
        raise SystemExit(f"{command[0]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, begin, peak - begin


def compare(fetch, url, authority, large):
    clients = {
        "fetch": [fetch, "-q", "-T", large, url],
        "curl": ["curl", "-sS", "--fail", "-o", "/dev/null", "--cacert", authority, "-T", large, url],
    }
    results = {name: [] for name in clients}
    for _ in range(ROUNDS):
        for name, command in clients.items():
            results[name].append(measure(command))
    for name in clients:
        cpu, wall, begin, growth = (peers.median(column) for column in zip(*results[name]))
        print(f"{name:>6}: {cpu * GIB / SIZE:.3f} CPU-s/GiB, {SIZE / GIB / wall:.2f} GiB/s, "
              f"{begin} KiB resident after 50 ms, {growth:+} KiB from there to the peak")
    ratios = [ours[0] / theirs[0] for ours, theirs in zip(results["fetch"], results["curl"])]
    print(f"CPU of fetch to curl's: {peers.median(ratios):.2f} (median of {ROUNDS} pairs of {SIZE // GIB} GiB)")


def sinks(size):
    """For http and https each: a URL that drops what it is sent, an authority for it, and a file of so many bytes."""
    with tempfile.TemporaryDirectory() as folder:
        authority = peers.certificate(folder)
        os.environ["SSL_CERT_FILE"] = authority
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "leaf.pem"), os.path.join(folder, "leaf.key"))
        large = os.path.join(folder, "large")
        with open(large, "wb") as file:
            file.truncate(size)
        # Into the page cache first: a hole's pages have to be made, and the first client would pay for it.
        subprocess.run(["cat", large], check=True, stdout=subprocess.DEVNULL)
        for scheme, tls in (("http", None), ("https", context)):
            listener = socket.create_server(("127.0.0.1", 0))
            server = multiprocessing.Process(target=serve, args=(listener, tls), daemon=True)
            server.start()
            print(f"-- {scheme}")
            try:
                yield f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/sink", authority, large
            finally:
                server.terminate()


def main():
    fetch = peers.build("fetch")
    print(f"# {peers.machine()}")
    for url, authority, file in sinks(SIZE):
        compare(fetch, url, authority, file)


if __name__ == "__main__":
    sys.exit(main())
