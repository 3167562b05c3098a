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


def in_turn(bench, path, connections, seconds_each):
    """wrk and volley on the same server, ABBA twice: of each the medians of requests/s, mean and median latency in seconds."""
    program = next((path for path in ("/usr/bin/wrk", "/usr/local/bin/wrk") if os.access(path, os.X_OK)), None)
    if program is None:
        raise Missed("wrk is not installed")
    rows = {"wrk": [], "volley": []}
    with bench.server() as server:
        line = ["-t1", f"-c{connections}", f"-d{seconds_each}s", server.url + path]
        for who in ("wrk", "volley", "volley", "wrk") * 2:
            if who == "wrk":
                rows[who].append(told_by_wrk(subprocess.run([program, "--latency", *line], capture_output=True, text=True).stdout))
            else:
                report = bench.report(*line)
                latency = report["latency"]["raw"]
                rows[who].append((report["rate"]["completed_per_second"], latency["mean"] / 1e9, seconds(latency, "50")))
    return [[statistics.median(column) for column in zip(*rows[who])] for who in ("wrk", "volley")]


def told_by_wrk(text):
    def time_in(pattern):
        value, unit = re.search(pattern + r"\s+([\d.]+)(us|ms|s)", text).groups()
        return float(value) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]

    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)), time_in("Latency"), time_in("50%")


# Connections that always carry a request make mean latency × rate their number (Little's law), and volley's latency is held to that. wrk's
# is shorter by the time between an answer and the turn in which it writes the next request, 64 connections long: what is compared with
# wrk's is requests/s there, and the median where an answer takes so long that this time does not count.
@check("11", "wrk and volley in turn, ABBA, 64 connections on one thread", "req/s ≥ 0.95; mean × rate = 64 ± 3 %")
def speed(bench):
    (theirs, their_mean, _), (ours, our_mean, _) = in_turn(bench, "/bytes/128", 64, 4)
    busy = our_mean * ours
    ok = ours >= 0.95 * theirs and abs(busy - 64) <= 0.03 * 64
    return within(ok, f"req/s {ours / theirs:.3f} of wrk's, mean × rate {busy:.1f} (wrk's {their_mean * theirs:.1f})")


@check("11a", "the same, 8 connections, answers that take 5 ms", "p50 ± 5 %; mean × rate = 8 ± 3 %")
def medians(bench):
    (_, _, theirs), (rate, mean, ours) = in_turn(bench, "/latency?ms=5", 8, 4)
    ok = abs(ours / theirs - 1) <= 0.05 and abs(mean * rate - 8) <= 0.03 * 8
    return within(ok, f"p50 {ours * 1e3:.3f} ms, {ours / theirs:.3f} of wrk's; mean × rate {mean * rate:.2f}")
