"""8, 9, 10, 12, 14: bytes, merged histograms, percentiles, connections at scale, and comparisons that tell chance from change."""

import csv
import json
import math
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

from honesty import ROOT, check, within

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nX-Pad: 0123456789\r\n\r\nHello, World!"
REQUEST_END = b"\r\n\r\n"


class Counting(threading.Thread):
    """Counts every byte of each connection, both ways; answers each request with the same."""

    def __init__(self):
        super().__init__(daemon=True)
        self.received = self.sent = self.requests = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/path"
        self.start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        left = b""
        with connection:
            while True:
                try:
                    chunk = connection.recv(65536)
                except OSError:
                    return
                if not chunk:
                    return
                left += chunk
                parts = left.split(REQUEST_END)
                left = parts[-1]
                answers = ANSWER * (len(parts) - 1)
                if answers:
                    connection.sendall(answers)
                with self.lock:
                    self.received += len(chunk)
                    self.sent += len(answers)
                    self.requests += len(parts) - 1


@check("8", "bytes in and out, 20,000 requests on 16 connections", "equal to the server's count")
def bytes_counted(bench):
    server = Counting()
    report = bench.report("-n", 20_000, "-c", 16, "-t", 2, server.url)
    # The server counts after it has sent.
    time.sleep(0.2)
    told = report["bytes"]
    ok = (told["in"], told["out"]) == (server.sent, server.received) and told["in_content"] == 20_000 * 13
    return within(ok, f"in {told['in']}, server {server.sent}; out {told['out']}, server {server.received}")


def counters(histogram):
    """The counters of a report's histogram, by an independent library where there is one."""
    from hdrh.histogram import HdrHistogram

    return {i.value_iterated_to: i.count_added_in_this_iter_step for i in HdrHistogram.decode(histogram["hdr"]).get_recorded_iterator()}


def python():
    """Ours has no hdrhistogram; the one that ./dev test makes has."""
    path = ROOT / ".build/python/lib"
    for folder in path.glob("python*/site-packages"):
        import sys

        if str(folder) not in sys.path:
            sys.path.append(str(folder))


@check("9", "the merge of 4 shards against one that saw everything", "counter for counter equal")
def merged(bench):
    python()
    from hdrh.histogram import HdrHistogram

    with tempfile.TemporaryDirectory() as folder, bench.server() as server:
        start, parts, crew = time.time() + 1, [], []
        for index in range(4):
            parts.append(f"{folder}/{index}.json")
            crew.append(subprocess.Popen(
                [bench.volley, "-n", "40003", "-c", "33", "-t", "1", "--shard", f"{index}/4", "--start-at", str(start), "-q",
                 "--format", f"json={parts[-1]}", "--format", f"requests={folder}/{index}.csv", server.url + "/bytes/10"]))
        statuses = [process.wait() for process in crew]
        served = server.count()
        subprocess.run([bench.volley, "merge", "--format", f"json={folder}/all.json", *parts], check=True)
        whole = json.load(open(f"{folder}/all.json"))
        saw = HdrHistogram(1, 3_600_000_000_000, 3)
        for index in range(4):
            for row in csv.DictReader(open(f"{folder}/{index}.csv")):
                saw.record_value(int(row["latency_ns"]))
        mine = {i.value_iterated_to: i.count_added_in_this_iter_step for i in saw.get_recorded_iterator()}
    theirs = counters(whole["latency"]["raw"])
    ok = statuses == [0] * 4 and served == whole["requests"]["completed"] == 40_003 and mine == theirs
    return within(ok, f"{len(theirs)} counters of {sum(theirs.values())} values, {'equal' if mine == theirs else 'unequal'}; served {served}")


@check("10", "percentiles against a sort of the log of requests", "within 0.1 % each")
def percentiles(bench):
    with tempfile.TemporaryDirectory() as folder, bench.server() as server:
        report = bench.report("-d", "5s", "-c", 32, "-t", 2, "--format", f"requests={folder}/log", server.url + "/bytes/10")
        times = sorted(int(row["latency_ns"]) for row in csv.DictReader(open(f"{folder}/log")))
    worst = 0.0
    for name, value in report["latency"]["raw"]["percentiles"].items():
        rank = max(1, math.ceil(math.nextafter(float(name), 0) * len(times) / 100))
        worst = max(worst, abs(value - times[rank - 1]) / times[rank - 1])
    ok = worst <= 0.001 and len(times) == report["requests"]["completed"]
    return within(ok, f"{len(times)} lines, worst {worst * 100:.3f} %")


@check("12", "60,000 connections of a request each: --close rst", "no connect fails; without, a warning")
def connections(bench):
    with bench.server() as server:
        report = bench.report("-n", 60_000, "-c", 64, "-t", 2, "--close", "rst", server.url + "/bytes/10")
        fin = subprocess.run(
            [bench.volley, "-n", "60000", "-c", "64", "--close", "fin", "-d", "1s", "--format", "json", server.url + "/bytes/10"],
            capture_output=True, text=True)
    failed, opened = report["connections"]["failed"], report["connections"]["opened"]
    reuse = pathlib.Path("/proc/sys/net/ipv4/tcp_tw_reuse").read_text().strip()
    # Where loopback's ports come back after a second, FIN is no trouble, and no warning is due.
    warned = "TIME_WAIT" in fin.stderr
    ok = failed == 0 and opened == 60_000 and report["requests"]["completed"] == 60_000 and (warned or reuse in ("1", "2"))
    return within(ok, f"{opened} opened, {failed} failed; tcp_tw_reuse {reuse}: {'warned' if warned else 'no warning due'}")


@check("14", "compare: 20 pairs of equal runs, 10 against one 5 % slower", "no difference ≥ 95 %; slower found")
def comparisons(bench):
    with tempfile.TemporaryDirectory() as folder, bench.server() as server:

        def run(pause, name):
            path = f"{folder}/{name}.json"
            subprocess.run([bench.volley, "-d", "3s", "-c", "4", "-t", "1", "--interval", "100ms", "-q", "--format", f"json={path}",
                            f"{server.url}/latency?ms={pause}"], check=True)
            return path

        def differs(before, after):
            return subprocess.run([bench.volley, "compare", before, after], stdout=subprocess.DEVNULL).returncode == 2

        runs, slow = [], []
        for index in range(21):
            runs.append(run(10, f"a{index}"))
            if index < 10:
                slow.append(run(10.5, f"b{index}"))
        false = sum(differs(before, after) for before, after in zip(runs, runs[1:]))
        found = sum(differs(before, after) for before, after in zip(runs, slow))
    return within(false <= 1 and found == 10, f"{false} of 20 equal pairs differ; {found} of 10 slower ones found")
