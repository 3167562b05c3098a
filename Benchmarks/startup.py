#!/usr/bin/env python3
"""From exec to exit: the smallest program on URLLoading against one that only imports Foundation, both with shared libraries
and both with the toolchain's linked in; fifty runs of each, alternating, and the ratio of the medians. The first ratio may be 1.3;
the second says what Foundation's parts with ICU cost, which a program that only imports Foundation does without.
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


def compare(name, ours, theirs, rounds):
    for _ in range(5):
        once(ours), once(theirs)
    times = [(once(ours), once(theirs)) for _ in range(rounds)]
    mine, others = (statistics.median(column) for column in zip(*times))
    print(f"{name}: URLLoading {mine:.2f} ms ({objects(ours)} objects), Foundation alone {others:.2f} ms "
          f"({objects(theirs)} objects): {mine / others:.2f}")
    return mine / others


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    build = ["swift", "build", "-c", "release", "--product", "OneRequest"]
    static = ["--static-swift-stdlib", "--scratch-path", ".build-static"]
    for options in ([], static):
        subprocess.run(build + options, check=True, cwd=peers.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "OnlyFoundation.swift")
        with open(source, "w") as file:
            file.write(FOUNDATION)
        ratios = []
        for name, options, ours in (("shared", [], ".build"), ("static", ["-static-stdlib"], ".build-static")):
            theirs = os.path.join(folder, name)
            subprocess.run(["swiftc", "-O", "-parse-as-library", *options, source, "-o", theirs], check=True,
                           stderr=subprocess.DEVNULL)
            ratios.append(compare(name, os.path.join(peers.ROOT, ours, "release", "OneRequest"), theirs, rounds))
    sys.exit(1 if ratios[0] > 1.3 else 0)


if __name__ == "__main__":
    main()
