#!/usr/bin/env python3
"""What comes between two requests on one connection: an answer that no request asked for, and a close that no answer announced.

./dev bench poisoning [TRIALS]: each answer is followed by a second one, 0 to 900 ms later, on a quiet machine and beside a busy thread for each
core, on the session's executor and off it. A second answer that lay in the client's kernel before a request began must not answer it.
./dev bench pairs [PAIRS]: POST after POST at a server that closes after each answer without announcing it.
"""
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

import clients
import peers

DELAYS_MS = [0, 0.1, 1, 10, 900]
TRIALS = 300
PAIRS = 10_000


class Poisoner:
    """Answers GET /N with N, and some time later with "poison N" though nothing was asked. Knows when it had sent
    each."""

    def __init__(self, delay):
        self.delay, self.sent = delay, {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            while True:
                head = b""
                while b"\r\n\r\n" not in head:
                    part = connection.recv(65536)
                    if not part:
                        return
                    head += part
                name = head.split(b" ", 2)[1][1:].decode()
                first, second = answer(name), answer("poison " + name)
                if self.delay == 0:
                    connection.sendall(first + second)
                    self.sent[name] = self.sent["poison " + name] = time.monotonic_ns()
                else:
                    connection.sendall(first)
                    self.sent[name] = time.monotonic_ns()
                    threading.Timer(self.delay, self.poison, (connection, name, second)).start()

    def poison(self, connection, name, second):
        with contextlib.suppress(OSError):
            connection.sendall(second)
            self.sent["poison " + name] = time.monotonic_ns()


def answer(text):
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


@contextlib.contextmanager
def company(is_busy):
    """A thread that never waits for each core, or none."""
    with contextlib.ExitStack() as stack:
        for core in range(os.cpu_count() if is_busy else 0):
            spinner = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(spinner.terminate)
        yield


def poisoning(binary, trials):
    print(f"# {peers.machine()}; {trials} pairs of requests each, the second 0 to twice the delay after the first's answer")
    violations = 0
    for delay in DELAYS_MS:
        for is_busy in (False, True):
            for place in ("off the loop", "on the loop"):
                server = Poisoner(delay / 1000)
                environment = ["env", "ON_LOOP=1"] if place == "on the loop" else []
                with company(is_busy):
                    lines = peers.run([*environment, binary, "poison", f"http://127.0.0.1:{server.port}", str(trials),
                                       str(int(delay * 1000))])[0].splitlines()
                server.listener.close()
                taken = late = failed = 0
                for line in lines:
                    began, expected, got = line.split("\t")
                    if got == "failed":
                        failed += 1
                    elif got != expected:
                        # Another's answer, or a second one: when had the server sent it?
                        if server.sent.get(got, 1 << 63) < int(began):
                            taken += 1
                        else:
                            late += 1
                violations += taken
                print(f"{delay:>5} ms, {'busy' if is_busy else 'quiet'}, {place}: {len(lines)} second requests, "
                      f"{taken} answered by what lay there before, {late} by what came after they began, {failed} failed")
    print(f"in all: {violations} requests were answered by what lay in the kernel before they began")
    return violations


def pairs(binary, count):
    with peers.compiled("closing.c") as program, tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "requests")
        server = subprocess.Popen([program, log], stdout=subprocess.PIPE, text=True)
        try:
            port = int(server.stdout.readline())
            result = peers.run([binary, "pairs", f"http://127.0.0.1:{port}", str(count)])[0].strip()
        finally:
            server.terminate()
            server.wait()
        with open(log, encoding="utf-8") as f:
            served = f.read().split()
    print(f"{result}; the server read {len(served)} requests, {len(served) - len(set(served))} of them twice")


def main():
    which, *rest = sys.argv[1:]
    binary = clients.build(["trials"])["trials"]
    if which == "pairs":
        return pairs(binary, int(rest[0]) if rest else PAIRS)
    raise SystemExit(1 if poisoning(binary, int(rest[0]) if rest else TRIALS) else 0)


if __name__ == "__main__":
    main()
