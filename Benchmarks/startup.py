#!/usr/bin/env python3
"""From exec to exit: the smallest program on URLLoading against one that only imports Foundation, both with shared libraries
and both with the toolchain's linked in; two hundred runs of each, alternating, and the ratio of the medians. The first ratio may be
1.3; the second says what of it is OpenSSL's and zlib's alone, linked to a program that calls neither; the third what Foundation's
parts with ICU cost, which a program that only imports Foundation does without.
./dev bench startup [ROUNDS]"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import peers

FOUNDATION = """
import Foundation

@main
enum OnlyFoundation {
    static func main() async {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
            return print("usage: OnlyFoundation URL")
        }
        print(url)
    }
}
"""


def once(program):
    start = time.perf_counter()
    process = os.posix_spawn(program, [program], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    os.waitpid(process, 0)
    return (time.perf_counter() - start) * 1000


def objects(program):
    return len(re.findall(r"=>|ld-linux", subprocess.run(["ldd", program], capture_output=True, text=True).stdout))


def compare(name, programs, rounds):
    """Medians of each, and all but the last over the last."""
    for program in programs.values():
        once(program)
    times = [[once(program) for program in programs.values()] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*times)]
    print(f"{name}: " + ", ".join(f"{what} {median:.2f} ms ({objects(program)} objects)"
                                  for (what, program), median in zip(programs.items(), medians)))
    return [median / medians[-1] for median in medians[:-1]]


def foundation_alone(folder, source, name, *options):
    program = os.path.join(folder, name)
    subprocess.run(["swiftc", "-O", "-parse-as-library", *options, source, "-o", program], check=True,
                   stderr=subprocess.DEVNULL)
    return program


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    build = ["swift", "build", "-c", "release", "--product", "OneRequest"]
    static = ["--static-swift-stdlib", "--scratch-path", ".build-static"]
    for options in ([], static):
        subprocess.run(build + options, check=True, cwd=peers.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "OnlyFoundation.swift")
        with open(source, "w") as file:
            file.write(FOUNDATION)
        libraries = [word for name in ("ssl", "crypto", "z") for word in ("-Xlinker", f"-l{name}")]
        ratio, linked = compare("shared", {
            "URLLoading": os.path.join(peers.ROOT, ".build", "release", "OneRequest"),
            "Foundation with OpenSSL and zlib": foundation_alone(
                folder, source, "linked", "-Xlinker", "--no-as-needed", *libraries),
            "Foundation alone": foundation_alone(folder, source, "shared"),
        }, rounds)
        print(f"URLLoading over Foundation alone: {ratio:.2f}, of which OpenSSL and zlib make {linked:.2f}")
        (toolchain,) = compare("toolchain linked in", {
            "URLLoading": os.path.join(peers.ROOT, ".build-static", "release", "OneRequest"),
            "Foundation alone": foundation_alone(folder, source, "static", "-static-stdlib"),
        }, rounds)
        print(f"URLLoading over Foundation alone: {toolchain:.2f}")
    sys.exit(1 if ratio > 1.3 else 0)


if __name__ == "__main__":
    main()
