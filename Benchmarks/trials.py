#!/usr/bin/env python3
"""What a URLSession must stand: a server that closes after each answer, a hundred thousand sessions, a slow delegate, 4 GiB both ways.

./dev bench trials [FACTOR]: with a factor below 1, smaller ones.
"""
import contextlib
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading

import clients
import peers

GIB = 1 << 30


def run(binary, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result.stdout.strip(), cpu


@contextlib.contextmanager
def closing_server():
    """Answers one request a connection and closes without a word of it, as some servers do."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    if connection.recv(65536):
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        listener.close()


def curl(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["curl", "-s", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    factor = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    binary = clients.build(["trials"])["trials"]
    httpbin = peers.build("httpbin")
    port = peers.free_port()
    server = subprocess.Popen([httpbin, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        peers.wait_for(port)
        base = f"http://127.0.0.1:{port}"
        with closing_server() as url:
            print("closing:", run(binary, "closing", url, int(9000 * factor))[0])
        print("sessions:", run(binary, "sessions", base + "/get", int(100_000 * factor))[0])
        print("slow delegate:", run(binary, "slow", f"{base}/bytes/{int(200e6 * factor)}", 30)[0])
        size = int(4 * GIB * factor)
        with tempfile.TemporaryDirectory() as folder, peers.file_server(size, 1) as nginx:
            path, out = os.path.join(folder, "upload"), os.path.join(folder, "out")
            with open(path, "wb") as f:
                f.truncate(size)
            compare("download", lambda: run(binary, "download", nginx.plain + "/file"),
                    lambda: curl("-o", out, nginx.plain + "/file"))
            compare("upload", lambda: run(binary, "upload", base + "/upload", path),
                    lambda: curl("-X", "POST", "-H", "Expect:", "-T", path, base + "/upload"))
    finally:
        server.terminate()
        server.wait()


def compare(name, ours, theirs):
    ratios, text = [], ""
    for _ in range(3):
        text, cpu = ours()
        ratios.append(cpu / theirs())
    print(f"{name}: {text}; CPU over curl's, median of 3: {peers.median(ratios):.2f}")


if __name__ == "__main__":
    main()
