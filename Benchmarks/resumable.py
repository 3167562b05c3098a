#!/usr/bin/env python3
"""An upload of 1 GiB that is cut fifty times goes on each time: whole, and with hardly an octet sent twice. Once by resets of
the server, in one process; once by kill -9 of the process, in a background session. What is sent is counted by the kernel, on a
loopback interface of a network namespace of its own.

./dev bench resumable [MEBIBYTES] [CUTS] [FOLDER OF BINARIES]"""
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import peers


def sent():
    """By the loopback interface, heads and acknowledgements of TCP included."""
    with open("/proc/net/dev") as file:
        line = next(line for line in file if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[8])


def receipt(output):
    found = re.search(r"\{.*\}", output, re.S)
    return json.loads(found.group()) if found else {}


def result(name, output, size, digest, octets, cuts, seconds):
    said = receipt(output)
    whole = said.get("length") == size and said.get("sha256") == digest
    ratio = octets / size
    verdict = "whole" if whole else f"WRONG: {output[-300:]}"
    print(f"{name}: {size >> 20} MiB, {cuts} cuts, {verdict}; sent {ratio:.3f} times its length, {seconds:.1f} s", flush=True)
    return whole and ratio <= 1.1


def resets(program, url, file, size, digest, cuts):
    """The server resets the connection after each part."""
    began, before = time.monotonic(), sent()
    step = size // (cuts + 1)
    run = subprocess.run([program, "--upload", f"{url}?cut={step}&times={cuts}", file], capture_output=True, text=True,
                         timeout=1800)
    return result("resets by the server", run.stdout, size, digest, sent() - before, cuts, time.monotonic() - began)


def kills(program, url, file, size, digest, cuts, state):
    """The process is killed when so much more has been sent."""
    began, before = time.monotonic(), sent()
    environment = dict(os.environ, XDG_STATE_HOME=state)
    # A little less than would be even: a process sends some before it is looked at.
    step = int(size / (1.25 * cuts))
    killed, output = 0, ""
    for _ in range(20 * cuts):
        process = subprocess.Popen([program, "--background-upload", "bench", url, file], env=environment,
                                   stdout=subprocess.PIPE, text=True)
        limit = sent() + step
        while process.poll() is None and not (killed < cuts and sent() >= limit):
            time.sleep(0.0005)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        output = process.communicate()[0]
        if process.returncode >= 0:
            break
    return result("kill -9 of the process", output, size, digest, sent() - before, killed, time.monotonic() - began)


def main():
    if os.environ.get("UNCURL_NAMESPACE") is None:
        # Nobody else's octets are counted there.
        command = 'ip link set lo up && exec "$0" "$@"'
        os.execvpe("unshare", ["unshare", "--net", "sh", "-c", command, sys.executable, *sys.argv],
                   dict(os.environ, UNCURL_NAMESPACE="1"))
    size = (int(sys.argv[1]) if len(sys.argv) > 1 else 1024) << 20
    cuts = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    build = sys.argv[3] if len(sys.argv) > 3 else os.path.join(peers.ROOT, ".build", "release")
    folder = tempfile.mkdtemp(prefix="uncurl-resumable-")
    file = os.path.join(folder, "file")
    digest = hashlib.sha256()
    chance = random.Random(20261123)
    with open(file, "wb") as out:
        for _ in range(size >> 20):
            piece = chance.randbytes(1 << 20)
            digest.update(piece)
            out.write(piece)
    server = subprocess.Popen([os.path.join(build, "httpbin"), "--port", "8080"], stdout=subprocess.DEVNULL)
    try:
        peers.wait_for(8080)
        url = "http://127.0.0.1:8080/resumable-upload"
        program = os.path.join(build, "OneRequest")
        good = resets(program, url, file, size, digest.hexdigest(), cuts)
        good &= kills(program, url, file, size, digest.hexdigest(), cuts, os.path.join(folder, "state"))
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
