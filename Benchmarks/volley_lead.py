#!/usr/bin/env python3
"""`volley lead` with four parts: its histograms beside the sum of the parts' own logs, and what it says of a part that is killed.

./dev bench lead. Each part is `volley part` behind a filter that keeps what it tells: the log. The lead's report is to have the sum of their counters,
bucket for bucket, and the server's count; after `kill -9` of one part, its name and status 4.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import peers

PARTS = 4


def counters(text):
    """Of HdrHistogram's text form, by slot."""
    from hdrh.histogram import HdrHistogram

    histogram = HdrHistogram.decode(text)
    return {item.value_iterated_to: item.count_added_in_this_iter_step for item in histogram.get_recorded_iterator()}


def told(folder, number):
    """All that a part told of its counts."""
    for line in open(f"{folder}/{number}"):
        message = json.loads(line)
        if "metrics" in message and not message.get("warm_up"):
            yield message["metrics"]


def main():
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    httpbin = os.environ.get("HTTPBIN") or peers.build("httpbin")
    print(f"# {peers.machine()}")
    server = subprocess.Popen([httpbin, "--port", "0"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    with tempfile.TemporaryDirectory() as folder:
        parts = [word for number in range(PARTS) for word in ("--on", f"'{volley}' part | tee '{folder}/{number}'")]
        command = [volley, "lead", *parts, "--rate", "2k", "-d", "5s", "-c", "64", "-t", "1", "-q", "--drain", "5s", "--max-lag", "1s", "--format", "json"]
        ended = subprocess.run([*command, url + "bytes/10"], capture_output=True, text=True)
        report, wrong = json.loads(ended.stdout), []
        for section, name, key in (("latency", "raw", ("success",)), ("latency", "first_byte", ("first_byte",)),
                                   ("schedule", "corrected", ("schedule", "corrected")), ("schedule", "lag", ("schedule", "lag"))):
            sums = {}
            for number in range(PARTS):
                for metrics in told(folder, number):
                    for step in key:
                        metrics = metrics.get(step) or {}
                    for value, count in counters(metrics["hdr"]).items() if metrics else ():
                        sums[value] = sums.get(value, 0) + count
            mine = counters(report[section][name]["hdr"])
            print(f"{section} {name}: {sum(mine.values())} values in {len(mine)} buckets, {'equal' if mine == sums else 'NOT EQUAL'} to the parts' logs")
            wrong += [name] if mine != sums else []
        sent = report["requests"]["sent"]
        print(f"{sent} sent, {sum(m.get('sent', 0) for n in range(PARTS) for m in told(folder, n))} by the logs, exit {ended.returncode}")
    with tempfile.TemporaryDirectory() as folder:
        one = f"echo $$ >'{folder}/'$$; exec '{volley}' part"
        process = subprocess.Popen([volley, "lead", *["--on", one] * PARTS, "--rate", "2k", "-d", "20s", "-c", "64", "-t", "1", "-q", "--format", "json",
                                    url + "bytes/10"], stdout=subprocess.PIPE, text=True)
        while len(os.listdir(folder)) < PARTS:
            time.sleep(0.1)
        time.sleep(3)
        os.kill(int(sorted(os.listdir(folder))[0]), signal.SIGKILL)
        killed = time.monotonic()
        report = json.loads(process.communicate()[0])
        named = [note for note in report["notes"] if "ended in the middle of the run" in note]
        print(f"kill -9 of a part: exit {process.returncode} after {time.monotonic() - killed:.1f} s: {named}")
        if process.returncode != 4 or len(named) != 1:
            wrong.append("the part that was killed")
    server.terminate()
    if wrong:
        sys.exit("wrong: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
