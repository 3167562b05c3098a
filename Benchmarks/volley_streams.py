#!/usr/bin/env python3
"""2,000 streams held by one core, ten events a second each: what volley tells of them, beside the server's own log (events.c).

./dev bench streams [STREAMS] [SECONDS]. Fails if an event is missing, or a percentile is farther from the log's than 1 ms and 1 %.
"""
import json
import os
import signal
import subprocess
import sys

import peers

CLIENT_CORE, SERVER_CORE = 0, 1


def main():
    streams = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    print(f"# {peers.machine()}; client on core {CLIENT_CORE}, server on core {SERVER_CORE}")
    with peers.compiled("events.c") as program:
        server = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), program], stdout=subprocess.PIPE, text=True)
        port = int(server.stdout.readline())
        # Opened over two seconds, so that their events are spread as in life.
        command = [volley, "-t1", f"-c{streams}", f"-d{seconds}s", "--stream", "sse", "--connect-rate", str(streams // 2),
                   "--format", "json", "--no-progress", f"http://127.0.0.1:{port}/"]
        output, user, system = peers.run_split(command, CLIENT_CORE)
        server.send_signal(signal.SIGTERM)
        logged = {line.split()[0]: [int(word) for word in line.split()[1:]] for line in server.stdout}
    told = json.loads(output)["stream"]
    print(f"{streams} streams, {told['events']} events, {told['events_per_second']:.0f}/s; CPU {(user + system) / seconds * 100:.0f} % of a core")
    wrong = []
    # What was on its way when the run ended was sent and not counted: a stream has one event under way at most.
    sent = logged["first"][0] + logged["gap"][0]
    if not 0 <= sent - told["events"] <= streams:
        wrong.append(f"{sent} events sent, {told['events']} counted")
    for name, histogram in (("first", told["first_event"]), ("gap", told["gap"])):
        for percentile, truth in zip(("50", "90", "99", "99.9"), logged[name][1:]):
            mine = histogram["percentiles"][percentile]
            print(f"{name:>6} p{percentile:<5} {mine / 1e6:9.3f} ms, by the log {truth / 1e6:9.3f}")
            if abs(mine - truth) > max(1_000_000, 0.01 * truth):
                wrong.append(f"{name} p{percentile}")
    if wrong:
        sys.exit("beyond 1 ms and 1 %: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
