"""25 to 28: requests wait in one queue, users own their connections, and nothing but the server ends one."""

import csv
import os
import tempfile

from honesty import check, listing, within
from servers import CLOSE, OK, RESET, Logged


def logged(bench, *arguments):
    """A run's report, and the rows of its log of requests that belong to the measured part, by the instant they were due."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        report = bench.report("--format", f"requests={file.name}", *arguments)
        with open(file.name) as lines:
            rows = [row for row in csv.DictReader(lines) if row["warm_up"] == "0"]
    times = [[int(row[name]) / 1e9 if row[name] else 0 for name in ("due_ns", "start_ns", "latency_ns")] for row in rows]
    return report, sorted(times)


def queue(rows, connections):
    """The time from due to done of each in one queue, first come, first served. What the machine added to a service is in both."""
    free, times = [0.0] * connections, []
    for due, _, service in rows:
        first = min(range(connections), key=free.__getitem__)
        free[first] = max(due, free[first]) + service
        times.append(free[first] - due)
    return times


def figures(times):
    times = sorted(times)
    return {"mean": sum(times) / len(times), **{f"p{share}": times[int((len(times) - 1) * share / 100)] for share in (50, 90, 99)}}


def one_queue(arrivals, connections):
    """Each connection serves 20 requests a second, 14 of which come due, on each number of threads."""

    def run(bench):
        rate, worst = connections * 14, (0, "")
        with bench.server() as server:
            for threads in range(1, min(4, connections) + 1):
                report, rows = logged(
                    bench, "-R", rate, "-n", rate * 6, "--arrivals", arrivals, "-c", connections, "-t", threads, "--drain", "30s",
                    "-T", "30s", "--max-lag", "1s", server.url + "/latency?ms=50",
                )
                expected, found = figures(queue(rows, connections)), figures([start + latency - due for due, start, latency in rows])
                for name in expected:
                    off = abs(found[name] / expected[name] - 1)
                    worst = max(worst, (off, f"-t {threads}: {name} {found[name] * 1e3:.1f} ms for {expected[name] * 1e3:.1f}"))
                if len(rows) != rate * 6:
                    return within(False, f"{len(rows)} rows of {rate * 6}")
        return within(worst[0] <= 0.05, f"off by {worst[0] * 100:.1f} % at most, {worst[1]}")

    return run


for index, connections in enumerate(range(1, 10)):
    for letter, arrivals, kind in (("abcdefghi"[index], "even", "D/D"), ("jklmnopqr"[index], "poisson", "M/D")):
        check(f"25{letter}", f"a rate on {connections} connections, 1 to 4 threads", f"{kind}/{connections} of one queue ± 5 %")(
            one_queue(arrivals, connections)
        )


@check("26", "200 users with pauses of 0.5 to 1.5 s", "200 connections, equally used; told = accepted")
def owners(bench):
    server = Logged(lambda path, number: OK)
    report = bench.report("-c", 200, "-t", 2, "--think", "500ms-1500ms", "-d", "20s", server.url + "/")
    per = sorted(server.carried)
    told = report["connections"]["opened"]
    # Twenty pauses of a second each, whose sum has a standard deviation of 1.3 s.
    ok = len(per) == told == 200 and per[0] >= 14 and per[-1] <= 26
    return within(ok, f"{told} told, {len(per)} accepted, {per[0]} to {per[-1]} requests each")


@check("27", "three hosts in one input, closed and open loop", "one connection a user and host; told = accepted")
def several_hosts(bench):
    words = []
    for flags, most in ((["-c", 10, "-t", 2, "-n", 6_000], 10), (["-c", 10, "-t", 2, "-R", 500, "-d", "5s", "--max-lag", "1s"], 10), (["-c", 10, "--think", "5ms", "-n", 3_000], 10)):
        servers = [Logged(lambda path, number: OK) for _ in range(3)]
        file = listing([server.url + "/" for server in servers])
        report = bench.report(*flags, "--input", f"urls={file}", servers[0].url + "/")
        os.unlink(file)
        counts, told = [len(server.carried) for server in servers], report["connections"]["opened"]
        words.append(f"{told} told, {counts} accepted")
        if told != sum(counts) or max(counts) > most:
            return within(False, words[-1])
    return within(True, "; ".join(words))


@check("28", "one fault among 3,000 requests, each method and kind of pace", "as many connections as with GET")
def methods(bench):
    seen = {}
    for fault in (RESET, CLOSE):
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"):
            for flags in (["-n", 3_000], ["-R", 1_000, "-n", 3_000, "--max-lag", "10s"], ["--think", "1ms", "-n", 3_000]):
                # Slower than the rate, so that all four connections are in use all the time, and not by chance.
                answer = (EMPTY, 0.005) if flags[0] == "-R" else EMPTY
                server = Logged(lambda path, number: fault if number == 300 else answer)
                report = bench.report("-m", method, "-c", 4, "-t", 1, *flags, server.url + "/", allowed=(4,))
                if report["connections"]["opened"] != len(server.carried):
                    return within(False, f"{method}: {report['connections']['opened']} told, {len(server.carried)} accepted")
                seen.setdefault((fault, flags[0]), {})[method] = len(server.carried)
    ok = all(len(set(counts.values())) == 1 for counts in seen.values())
    return within(ok, "; ".join(f"{fault} {pace}: {sorted(set(counts.values()))}" for (fault, pace), counts in seen.items()))


EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@check("29", "20,000 requests on 16 connections, closed loop and 2,000/s", "no latency below 1 µs")
def no_time(bench):
    least = []
    with bench.server() as server:
        for flags in ([], ["--think", "1us"], ["-R", 2_000, "--max-lag", "1s"]):
            report = bench.report("-n", 20_000, "-c", 16, "-t", 1, *flags, server.url + "/bytes/128")
            least += [report["latency"][name]["min"] for name in ("raw", "first_byte")]
    return within(min(least) >= 1_000, f"{min(least) / 1e3:.1f} µs at least")
