#!/usr/bin/env python3
"""What a part of volley costs beside the plain loop on the same nginx: CPU a request, in pairs, alternating.

./dev bench names: ten names against one; ./dev bench scenario: a scenario file against the plain loop; ./dev bench websocket: a message on a
WebSocket against a request, both to httpbin. With --instructions: instructions a request in user mode, by callgrind, the difference of two lengths:
other work on the machine does not show in it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import peers

PAIRS, SECONDS = 15, 1
CLIENT_CORE, SERVER_CORE = 0, 1


def commands(what, volley, folder, base):
    common = [volley, "-t1", "-c64", "--no-progress", "--format", "wrk"]
    if what == "names":
        one, ten = f"{folder}/one.urls", f"{folder}/ten.urls"
        for path, name in ((one, "n"), (ten, None)):
            with open(path, "w") as file:
                file.writelines(f"/?{number} name={name or f'n{number}'}\n" for number in range(10))
        return {"one": [*common, "--input", f"urls={one}", base], "ten": [*common, "--input", f"urls={ten}", base]}
    if what == "scenario":
        path = f"{folder}/scenario.json"
        with open(path, "w") as file:
            json.dump({"steps": [{"name": "one", "url": "/"}]}, file)
        return {"plain": [*common, base + "/"], "scenario": [*common, "--scenario", path, base]}
    return {"request": [*common, base + "/bytes/64"], "message": [*common, "ws" + base[4:] + "/websocket"]}


def count(output):
    return int(re.search(r"^\s*(\d+) requests in", output, re.M).group(1))


def instructions(command):
    """A request's, between two runs of different length, so that what is made once does not count."""
    counts = [peers.instructions([*command, "-n", str(number), "-T", "60s"]) for number in (20_000, 60_000)]
    return (counts[1] - counts[0]) / 40_000


def main():
    what = sys.argv[1]
    volley = os.environ.get("VOLLEY") or peers.build("volley")
    httpbin = (os.environ.get("HTTPBIN") or peers.build("httpbin")) if what == "websocket" else None
    print(f"# {peers.machine()}; client on core {CLIENT_CORE}, server on core {SERVER_CORE}, 64 connections")
    with tempfile.TemporaryDirectory() as folder:
        if httpbin:
            server = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), httpbin, "--port", "0"], stdout=subprocess.PIPE, text=True)
            measure(what, volley, folder, server.stdout.readline().strip().rstrip("/"))
            server.terminate()
        else:
            with peers.nginx(SERVER_CORE) as port:
                measure(what, volley, folder, f"http://127.0.0.1:{port}")


def measure(what, volley, folder, base):
    both = commands(what, volley, folder, base)
    names = list(both)
    if "--instructions" in sys.argv:
        found = {name: instructions(command) for name, command in both.items()}
        print(f"instructions a request in user mode: {', '.join(f'{name} {value:.0f}' for name, value in found.items())}: "
              f"{found[names[1]] / found[names[0]]:.3f}")
        return
    results = {name: [] for name in names}
    for index in range(PAIRS):
        for name in names if index % 2 == 0 else reversed(names):
            output, user, system = peers.run_split([*both[name], f"-d{SECONDS}s", "-T", "30s"], CLIENT_CORE)
            done = count(output)
            results[name].append(((user + system) / done * 1e6, user / done * 1e6))
    for name in names:
        print(f"{name:>9}: {peers.median([row[0] for row in results[name]]):.2f} µs of CPU a request, {peers.median([row[1] for row in results[name]]):.2f} its own")
    ratios = sorted(mine[0] / theirs[0] for theirs, mine in zip(results[names[0]], results[names[1]]))
    quarter = len(ratios) // 4
    print(f"CPU a request, {names[1]} over {names[0]}: {peers.median(ratios):.3f} ({ratios[quarter]:.3f}-{ratios[-quarter - 1]:.3f})")


if __name__ == "__main__":
    sys.exit(main())
