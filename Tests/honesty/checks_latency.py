"""1, 2, 5, 6: latency is what a user would have waited, and a late load tester says so."""

import os
import signal
import subprocess
import time

from honesty import check, listing, seconds, within


def freeze(bench, length, stall_ms, connections=2, rate=1000):
    """A run at 1,000/s in which the server stands still once, five seconds in; requests due while it does wait for it."""
    before = 5 * rate
    with bench.server() as server:
        file = listing([f"/bytes/10 x{before}", f"/freeze?ms={stall_ms}", f"/bytes/10 x{length * rate - before - 1}"])
        report = bench.report(
            "-R", rate, "-d", f"{length}s", "-t", 1, "-c", connections, "--input", f"urls={file}", "-T", "10s",
            "--drain", "10s", server.url + "/", allowed=(0,),
        )
        report["served"] = server.count()
    os.unlink(file)
    return report


@check("1", "1 s freeze at 1,000/s for 30 s", "p50<5ms p99 .70±.05 p99.9 .97±.03 raw p99<50ms")
def freeze30(bench):
    report = freeze(bench, 30, 1000)
    corrected, raw = report["schedule"]["corrected"], report["latency"]["raw"]
    p50, p99, p999 = (seconds(corrected, name) for name in ("50", "99", "99.9"))
    top, rawp99, sent = seconds(corrected, "max"), seconds(raw, "99"), report["requests"]["sent"]
    ok = p50 < 0.005 and abs(p99 - 0.70) <= 0.05 and abs(p999 - 0.97) <= 0.03 and 1.0 <= top <= 1.1
    ok = ok and rawp99 < 0.05 and sent == 30_000 and report["served"] == sent
    return within(ok, f"p50 {p50 * 1e3:.2f} ms, p99 {p99:.3f}, p99.9 {p999:.3f}, max {top:.3f}, raw p99 {rawp99 * 1e3:.2f} ms, sent {sent}")


def other(length, wanted):
    def run(bench):
        p99 = seconds(freeze(bench, length, 1000)["schedule"]["corrected"], "99")
        return within(abs(p99 - wanted) <= 0.05, f"p99 {p99:.3f} s")

    return run


for letter, length, wanted in (("a", 10, 0.90), ("b", 20, 0.80), ("c", 60, 0.40)):
    check(f"1{letter}", f"the same for {length} s", f"p99 {wanted:.2f}±.05 s")(other(length, wanted))


@check("1d", "0.2 s freeze, 30 s", "p99.9 .17±.02 s")
def short(bench):
    p999 = seconds(freeze(bench, 30, 200)["schedule"]["corrected"], "99.9")
    return within(abs(p999 - 0.17) <= 0.02, f"p99.9 {p999:.3f} s")


@check("2", "the freeze with 1 connection and with 1,000", "p99 agree within 5 %")
def connections(bench):
    one, many = (seconds(freeze(bench, 20, 1000, count)["schedule"]["corrected"], "99") for count in (1, 1000))
    return within(abs(one - many) <= 0.05 * max(one, many), f"{one:.3f} and {many:.3f} s")


@check("5", "volley stopped for 500 ms", "exit 3, corrected max 0.45–0.65 s")
def starved(bench):
    with bench.server() as server:
        command = [bench.volley, "--format", "json", "-R", "1000", "-d", "10s", "-t", "1", "-c", "10", server.url + "/bytes/10"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(4)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate()
    import json

    schedule = json.loads(out)["schedule"]
    top = seconds(schedule["corrected"], "max")
    ok = process.returncode == 3 and 0.45 <= top <= 0.65 and schedule["generator_limits"]
    return within(ok, f"exit {process.returncode}, corrected max {top:.3f} s")


@check("6", "a service time of 10 ms", "p50 10.0–10.5 ms")
def fixed(bench):
    with bench.server() as server:
        report = bench.report("-c", 1, "-t", 1, "-n", 500, server.url + "/latency?ms=10")
    p50 = seconds(report["latency"]["raw"], "50") * 1e3
    return within(10.0 <= p50 <= 10.5, f"p50 {p50:.2f} ms")


@check("6a", "a service time evenly from 1 to 100 ms", "p90 90±1 ms")
def uniform(bench):
    with bench.server() as server:
        report = bench.report("-c", 50, "-t", 1, "-n", 20_000, server.url + "/latency?from=1&to=100")
    # The p-th percentile of n even values strays by the root of p(1-p)/n of their span: 0.2 ms here.
    p90 = seconds(report["latency"]["raw"], "90") * 1e3
    return within(abs(p90 - 90) <= 1, f"p90 {p90:.2f} ms")
