"""7, 11: requests leave when they are due, and a closed loop is no slower than wrk's."""

import os
import re
import socket
import statistics
import subprocess
import threading
import time

from honesty import Missed, check, seconds, within


def held(rate, length, threads):
    def run(bench):
        with bench.server() as server:
            report = bench.report("-R", rate, "-d", f"{length}s", "-t", threads, "-c", 100, server.url + "/bytes/10")
        wanted = rate * length
        sent, lag = report["requests"]["sent"], report["schedule"]["lag"]
        p99 = seconds(lag, "99") * 1e3
        done = report["rate"]["completed_per_second"]
        ok = abs(sent - wanted) <= wanted / 1000 and abs(done - rate) <= rate / 1000 and p99 <= 1
        return within(ok, f"{sent} of {wanted}, {done:.1f}/s, lag p99 {p99:.3f} ms")

    return run


for letter, rate, length in (("", 10, 20), ("a", 1000, 20), ("b", 50_000, 10)):
    check(f"7{letter}", f"{rate:,}/s for {length} s", "count and rate ± 0.1 %, lag p99 ≤ 1 ms")(held(rate, length, 1))


class Stamping(threading.Thread):
    """Notes when each request arrives, and answers it."""

    ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    def __init__(self):
        super().__init__(daemon=True)
        self.times = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.start()

    def run(self):
        import select

        poller, connections = select.epoll(), {}
        poller.register(self.listener, select.EPOLLIN)
        while True:
            for number, _ in poller.poll():
                if number == self.listener.fileno():
                    connection, _ = self.listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    connections[connection.fileno()] = connection
                    poller.register(connection, select.EPOLLIN)
                    continue
                now = time.monotonic()
                data = connections[number].recv(65536)
                if not data:
                    poller.unregister(number)
                    connections.pop(number).close()
                    continue
                for _ in range(data.count(b"\r\n\r\n")):
                    self.times.append(now)
                    connections[number].sendall(self.ANSWER)


@check("7c", "gaps between requests at the server, 1,000/s for 5 s", "p99 ≤ 2 × the mean gap of 1 ms")
def gaps(bench):
    server = Stamping()
    bench.report("-R", 1000, "-d", "5s", "-t", 1, "-c", 20, server.url)
    gaps = sorted(1e3 * (later - earlier) for earlier, later in zip(server.times, server.times[1:]))
    p99, mean = gaps[int(len(gaps) * 0.99)], statistics.mean(gaps)
    return within(p99 <= 2 * mean and len(server.times) == 5000, f"p99 {p99:.2f} ms, mean {mean:.3f} ms, {len(server.times)} requests")


@check("11", "wrk and volley in turn, ABBA, 64 connections on one thread", "req/s ≥ 0.95, p50 ± 5 %")
def wrk(bench):
    program = next((path for path in ("/usr/bin/wrk", "/usr/local/bin/wrk") if os.access(path, os.X_OK)), None)
    if program is None:
        raise Missed("wrk is not installed")
    rates, medians = {"wrk": [], "volley": []}, {"wrk": [], "volley": []}
    with bench.server() as server:
        for who in ("wrk", "volley", "volley", "wrk") * 2:
            line = ["-t1", "-c64", "-d4s", "--latency", server.url + "/bytes/128"]
            command = [program, *line] if who == "wrk" else [bench.volley, "--format", "wrk", "--no-progress", *line]
            text = subprocess.run(command, capture_output=True, text=True).stdout
            rates[who].append(float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)))
            value, unit = re.search(r"50%\s+([\d.]+)(us|ms)", text).groups()
            medians[who].append(float(value) * (1000 if unit == "ms" else 1))
    rate = statistics.median(rates["volley"]) / statistics.median(rates["wrk"])
    median = statistics.median(medians["volley"]) / statistics.median(medians["wrk"])
    return within(rate >= 0.95 and 1 / median >= 0.95, f"req/s {rate:.3f}, p50 {median:.3f} of wrk's")
