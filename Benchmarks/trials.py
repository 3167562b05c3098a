#!/usr/bin/env python3
"""What a URLSession must stand: a server that closes after each answer, a hundred thousand sessions, a slow delegate, 4 GiB both ways.

./dev bench trials [FACTOR]: with a factor below 1, smaller ones.
"""
import contextlib
import os
import subprocess
import sys
import tempfile

import clients
import peers

GIB = 1 << 30


def run(binary, *arguments):
    output, cpu, _ = peers.run([binary, *map(str, arguments)])
    return output.strip(), cpu


@contextlib.contextmanager
def closing_server():
    with peers.compiled("closing.c") as program:
        server = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/"
        finally:
            server.terminate()
            server.wait()


LIMIT = 3e6


def closing(binary, url, count):
    """Each request's time, and of those over 3 ms what is left without the time in which a core stood still."""
    with peers.compiled("stalls.c") as program:
        witness = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        result, *lines = run(binary, "closing", url, count)[0].splitlines()
        gaps = [tuple(map(int, line.split())) for line in witness.communicate()[0].splitlines()]
    spans = [tuple(map(int, line.split())) for line in lines]
    times = [end - begin for begin, end in spans]
    print(f"closing: {result}, the first {times[0] / 1e6:.1f} ms, median {peers.median(times) / 1e6:.2f} ms, "
          f"slowest {max(times) / 1e6:.1f} ms, over 3 ms {sum(time > LIMIT for time in times)}", end="")
    if witness.returncode:
        return print("; nobody may watch the cores here")
    own = [time - standing(span, gaps) for span, time in zip(spans, times)]
    print(f"; without the time in which a core stood still ({len(gaps)} times, {sum(e - b for b, e in gaps) / 1e6:.0f} ms): "
          f"slowest {max(own) / 1e6:.1f} ms, over 3 ms {sum(time > LIMIT for time in own)}")


def standing(span, gaps):
    """How much of the span lies in gaps, of whichever core; what lies in two at once counts once."""
    total, reached = 0, span[0]
    for begin, end in sorted(gap for gap in gaps if gap[0] < span[1] and gap[1] > span[0]):
        begin, end = max(begin, reached), min(end, span[1])
        if end > begin:
            total, reached = total + end - begin, end
    return total


def curl(*arguments):
    return cost("curl", "-s", *arguments)


def cost(*command):
    return peers.run([*map(str, command)])[1]


def main():
    factor = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    binary = clients.build(["trials"])["trials"]
    httpbin = peers.build("httpbin")
    port = peers.free_port()
    server = subprocess.Popen([httpbin, "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        peers.wait_for(port)
        base = f"http://127.0.0.1:{port}"
        with closing_server() as url:
            closing(binary, url, int(9000 * factor))
        print("sessions:", run(binary, "sessions", base + "/get", int(100_000 * factor))[0])
        print("slow delegate:", run(binary, "slow", f"{base}/bytes/{int(200e6 * factor)}", 30)[0])
        size = int(4 * GIB * factor)
        with tempfile.TemporaryDirectory() as folder, peers.file_server(size, 1) as nginx:
            path, out = os.path.join(folder, "upload"), os.path.join(folder, "out")
            with open(path, "wb") as f:
                f.truncate(size)
            # Ours removes its file, so curl's is removed too: one that is written over reuses the pages it has, which saves what a
            # virtual machine pays for each that is new.
            compare("download", lambda: run(binary, "download", nginx.plain + "/file"),
                    lambda: curl("-o", out, nginx.plain + "/file") + cost("rm", out))
            compare("upload", lambda: run(binary, "upload", base + "/upload", path),
                    lambda: curl("-X", "POST", "-H", "Expect:", "-T", path, base + "/upload"))
    finally:
        server.terminate()
        server.wait()


def compare(name, ours, theirs):
    ratios, text = [], ""
    for _ in range(3):
        text, cpu = ours()
        ratios.append(cpu / theirs())
    print(f"{name}: {text}; CPU over curl's, median of 3: {peers.median(ratios):.2f}")


if __name__ == "__main__":
    main()
