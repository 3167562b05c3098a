#!/usr/bin/env python3
"""A response of 1,000 chunks of 16 bytes, 2,000 times over one connection: CPU a response, by a session, by a manager, and by curl; beside it the same
content with Content-Length.
./dev bench chunks"""
import re
import socket
import sys
import threading

import clients
import peers

COUNT, CHUNKS = 2_000, 1_000
PIECE = b"0123456789abcdef"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10\r\n" + PIECE + b"\r\n") * CHUNKS + b"0\r\n\r\n"
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % (len(PIECE) * CHUNKS) + PIECE * CHUNKS


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = b""
    while True:
        while b"\r\n\r\n" not in request:
            received = connection.recv(65536)
            if not received:
                return
            request += received
        connection.sendall(CHUNKED if request.startswith(b"GET /chunked") else WHOLE)
        request = request.partition(b"\r\n\r\n")[2]


def accept(listener):
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def main():
    binaries = clients.build(["session", "manager"])
    print(f"# {peers.machine()}")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        for path in ("chunked", "whole"):
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/{path}"
            costs = {}
            for name, binary in binaries.items():
                output, _, _ = peers.run([binary, url, "1", str(COUNT)])
                costs[name] = float(re.search(r"cpu_us ([\d.]+)", output).group(1))
            once = peers.run(["curl", "-s", "-o", "/dev/null", url])[1]
            costs["curl"] = (peers.run(["curl", "-s", "-o", "/dev/null", f"{url}?[1-{COUNT}]"])[1] - once) / COUNT * 1e6
            print(f"{path}: " + ", ".join(f"{name} {cost:.1f} µs a response" for name, cost in costs.items()))


if __name__ == "__main__":
    sys.exit(main())
