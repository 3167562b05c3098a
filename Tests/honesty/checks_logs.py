"""15 and on: what a server with a log of its own did, told by every figure that is about it."""

import json
import os
import subprocess
import tempfile
import time

from honesty import check, listing, seconds, within
from servers import CLOSE, OK, RESET, Cut, Logged, Slow


def every(count, what):
    """A server that does `what` with each request of that number, and answers the others."""
    return Logged(lambda path, number: what if number % count == count - 1 else OK)


@check("15", "1 % of requests met by RST", "failed = the log's resets, sent = its requests, exit 4")
def resets(bench):
    server = every(100, RESET)
    report = bench.report("-n", 20_000, "-c", 16, "-t", 2, server.url + "/", allowed=(4,))
    told, cut, read = report["requests"], server.count(RESET), server.count()
    ok = told["failed"] == cut == 200 and told["sent"] == read == 20_000 and told["sent_again"] == 0
    return within(ok, f"{told['failed']} failed, {cut} reset; {told['sent']} sent, {read} read")


@check("15a", "the same with --retry", "sent again = the log's resets, sent + again = its requests, exit 0")
def resent(bench):
    server = every(100, RESET)
    report = bench.report("--retry", "-n", 20_000, "-c", 16, "-t", 2, server.url + "/")
    told, cut, read = report["requests"], server.count(RESET), server.count()
    ok = told["sent_again"] == cut > 0 and told["sent"] == 20_000 and told["sent"] + cut == read
    return within(ok, f"{told['sent_again']} sent again, {cut} reset; {told['sent']} sent, {read} read")


def in_turn(weight):
    def run(bench):
        server = Logged(lambda path, number: (OK, 0.02) if path == "/slow" else OK)
        file = listing([f"/fast x{weight}", "/slow"])
        report = bench.report("--input", f"urls={file}", "-d", "3s", "--drain", "5s", server.url + "/")
        os.unlink(file)
        fast, slow = server.count(path="/fast"), server.count(path="/slow")
        ok = slow > 200 and abs(fast - weight * slow) <= weight and report["requests"]["completed"] == fast + slow
        return within(ok, f"{fast} and {slow} read, {report['requests']['completed']} completed")

    return run


for letter, weight in (("", 1), ("a", 7)):
    check(f"16{letter}", f"two URLs, one fast, one of 20 ms, as {weight} to 1, on two threads", f"{weight} : 1 in the log, to a request")(in_turn(weight))


@check("16b", "{{counter}} and {{line:F}} on unequal threads", "every number once, lines in turn, by the log")
def numbered(bench):
    server, file = Logged(lambda path, number: OK), listing(["a", "b", "c"])
    report = bench.report("--template", "-d", "3s", "-t", 2, "-c", 3, "--drain", "5s", server.url + f"/{{{{counter}}}}/{{{{line:{file}}}}}")
    os.unlink(file)
    seen = sorted((int(number), line) for _, number, line in (row[1].split("/") for row in server.log))
    ok = [number for number, _ in seen] == list(range(report["requests"]["sent"])) and all(line == "abc"[number % 3] for number, line in seen)
    return within(ok, f"{len(seen)} read, {report['requests']['sent']} sent, the last number {seen[-1][0]}")


@check("17", "the highest rate of a queue of 250/s, volley held up 20 ms in every 170", "200–262/s, kept by the last run's log too")
def highest(bench):
    """One after the other, 4 ms each; what is above the rate waits, each second's surplus 4 ms longer."""
    free = [0.0]

    def act(path, number):
        now = time.monotonic()
        free[0] = max(now, free[0]) + 0.004
        return OK, free[0] - now

    server = Logged(act)
    volley = subprocess.Popen(
        [bench.volley, "--format", "json", "--no-progress", "--search-max", "p90<60ms", "-R", "100", "-d", "3s", "-t", "1", "-c", "64",
         "-T", "10s", "--drain", "10s", server.url + "/"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    hold = subprocess.Popen(["/bin/sh", "-c", f"while kill -STOP {volley.pid} 2>/dev/null; do sleep 0.02; kill -CONT {volley.pid}; sleep 0.15; done"],
                            stderr=subprocess.DEVNULL)
    out, err = volley.communicate()
    hold.wait()
    late = err.count("good, though volley was late")
    # 3: the next higher rate was missed when volley was late, so the server may take more.
    if volley.returncode not in (0, 3):
        return within(False, f"ended with {volley.returncode}: {err.strip().splitlines()[-1:]}")
    report = json.loads(out)
    rate = report["schedule"]["stages"][0]["from_per_second"]
    last = server.log[-report["requests"]["sent"]:]
    waits = sorted(row[3] - row[0] for row in last)
    p90 = waits[int(len(waits) * 0.9)]
    ok = 200 <= rate <= 262 and late > 0 and p90 < 0.06
    return within(ok, f"{rate:.0f}/s, the server's own p90 {p90 * 1e3:.1f} ms; volley was late in {late} good trials")


def slow(count, seconds):
    """Each request of that number is answered so late, the others at once."""
    return Logged(lambda path, number: (OK, seconds) if number % count == count - 1 else OK)


def late(*flags):
    def run(bench):
        server = slow(10, 0.015)
        report = bench.report("-n", 2_000, "-c", 4, "-t", 2, "-T", "12ms", *flags, server.url + "/", allowed=(4,))
        error, told = report["errors"][0], report["requests"]
        logged = sum(row[3] is not None and row[3] - row[0] > 0.012 for row in server.log)
        ok = error["class"] == "timeout" and told["failed"] == error["count"] == logged and told["completed"] == 2_000 - logged
        return within(ok, f"{told['failed']} failed, {logged} late in the log")

    return run


for letter, flags in (("", ()), ("a", ("--cookies",))):
    check(f"18{letter}", f"every tenth answer after 15 ms, -T 12ms{' ' if flags else ''}{' '.join(flags)}", "failed = the log's late answers")(late(*flags))


@check("18b", "every fifth answer with 4 bytes too many", "failed = the log's, as surplus, exit 4")
def surplus(bench):
    server = every(5, OK + b"more")
    report = bench.report("-n", 5_000, "-c", 8, "-t", 2, server.url + "/", allowed=(4,))
    told, error, logged = report["requests"], report["errors"][0], server.count(OK + b"more")
    ok = error["class"] == "surplus" and told["failed"] == error["count"] == logged == 1_000 and told["completed"] == 4_000
    return within(ok, f"{told['failed']} failed as {error['class']}, {logged} in the log")


@check("18c", "compare: 10 runs against ones with a hundredth of 500s, 10 against as good ones", "10 found, at most 1 false alarm")
def compared(bench):
    good, bad = Logged(lambda path, number: (OK, 0.002)), every(100, b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
    with tempfile.TemporaryDirectory() as folder:

        def run(server, name):
            path = f"{folder}/{name}.json"
            subprocess.run([bench.volley, "-d", "1500ms", "-c", "4", "-t", "1", "--interval", "100ms", "-q", "--format", f"json={path}", server.url + "/"])
            return path

        def differs(before, after, *flags):
            return subprocess.run([bench.volley, "compare", before, after, *flags], stdout=subprocess.DEVNULL).returncode == 2

        runs = [run(good, f"a{index}") for index in range(11)]
        worse = [run(bad, f"b{index}") for index in range(10)]
        false = sum(differs(before, after) for before, after in zip(runs, runs[1:]))
        # The other server is the faster one: errors alone are what is found.
        found = sum(differs(before, after, "--fail-if", "errors>+0%") for before, after in zip(runs, worse))
    return within(false <= 1 and found == 10, f"{found} of 10 found, {false} of 10 equal pairs differ")


@check("18d", "merge of a part of 1 s and one of 3 s", "rate = the log's requests by 3 s ± 1 %")
def unequal(bench):
    server = Logged(lambda path, number: OK)
    with tempfile.TemporaryDirectory() as folder:
        crew = [subprocess.Popen([bench.volley, "-R", "300", "-d", f"{length}s", "-t", "1", "-q", "--format", f"json={folder}/{length}.json", server.url + "/"])
                for length in (1, 3)]
        for process in crew:
            process.wait()
        subprocess.run([bench.volley, "merge", f"{folder}/1.json", f"{folder}/3.json", "--format", f"json={folder}/all.json"])
        report = json.load(open(f"{folder}/all.json"))
    rate, wanted, read = report["rate"]["successes_per_second"], server.count() / 3, server.count()
    ok = report["requests"]["completed"] == read == 1_200 and abs(rate / wanted - 1) <= 0.01
    return within(ok, f"{rate:.1f}/s of {wanted:.1f}/s, {read} read")


def ending(what, kind):
    def run(bench):
        server = every(5, what)
        report = bench.report("-n", 5_000, "-c", 8, "-t", 2, server.url + "/", allowed=(4,))
        told, error, logged = report["requests"], report["errors"][0], server.count(what)
        ok = len(report["errors"]) == 1 and error["class"] == kind and told["failed"] == error["count"] == logged == 1_000 and told["completed"] == 4_000
        return within(ok and told["sent"] == server.count(), f"{told['failed']} failed as {error['class']}, {logged} in the log")

    return run


for number, what, title, kind in (
    ("18e", Cut(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nok"), "every fifth answer ends 4 bytes before its length", "closed-in-body"),
    ("18f", CLOSE, "every fifth request is dropped: a close and no answer", "closed-before-answer"),
):
    check(number, title, "failed = the log's, in one class, exit 4")(ending(what, kind))


@check("18g", "answers of 40 octets, one a millisecond, on 8 connections", "percentiles of all the octets' time: 2 % of the log")
def octets(bench):
    server = Logged(lambda path, number: Slow(OK))
    report = bench.report("-n", 1_000, "-c", 8, "-t", 1, server.url + "/")
    times = sorted(row[3] - row[0] for row in server.log)
    pairs = [(name, seconds(report["latency"]["raw"], name), times[int(len(times) * float(name) / 100) - 1]) for name in ("50", "90", "99")]
    ok = report["requests"]["completed"] == len(times) == 1_000 and all(abs(told / logged - 1) <= 0.02 for _, told, logged in pairs)
    return within(ok, ", ".join(f"p{name} {told * 1e3:.1f} ms log {logged * 1e3:.1f}" for name, told, logged in pairs))
