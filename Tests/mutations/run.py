#!/usr/bin/env python3
"""Breaks behaviour of Uncurl's on purpose, one rule at a time, and shows that a test of its inventory row fails.

usage: run.py [ROW ...]      all rows of mutations.txt, or these

All mutants are built into one test binary: each changed place asks at run time whether its mutant is on. The sources are
changed for that and put back at the end; they must be as committed.
"""
import os
import re
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A mutant whose test waits for what never comes has been found too.
LONGEST = 75
SWITCH = "Sources/Uncurl/Mutant.swift"
SWITCH_TEXT = """internal import Glibc

/// Made by Tests/mutations/run.py, which removes it again.
enum Mutant {
    private static let number = unsafe getenv("UNCURL_MUTANT").flatMap { unsafe Int(String(cString: $0)) } ?? 0

    static func isOn(_ wanted: Int) -> Bool { number == wanted }
}
"""


class Mutant:
    def __init__(self, number, head, text):
        self.number = number
        rows, self.file, self.tests = (part.strip() for part in head.split("|", 2))
        self.rows = rows.split()
        self.old, self.new = text.split("\n--->\n")

    def apply(self):
        path = os.path.join(ROOT, self.file)
        text = open(path, encoding="utf-8").read()
        if text.count(self.old) != 1:
            sys.exit("run.py: mutant of %s: %s has its text %d times" % (self.rows, self.file, text.count(self.old)))
        text = text.replace(self.old, self.new.replace("MUTANT", "Mutant.isOn(%d)" % self.number))
        open(path, "w", encoding="utf-8").write(text)


def mutants():
    text = open(os.path.join(ROOT, "Tests/mutations/mutations.txt"), encoding="utf-8").read()
    blocks = [block.strip("\n") for block in re.split(r"^===.*\n", text, flags=re.M)[1:]]
    return [Mutant(number, *block.split("\n", 1)) for number, block in enumerate(blocks, 1)]


def passes(tests, mutant=0):
    """Whether the tests pass; one that takes too long does not."""
    command = [".build/debug/uncurlPackageTests.xctest", "--testing-library", "swift-testing",
               "--experimental-maximum-parallelization-width", "4", "--filter", tests]
    environment = dict(os.environ, UNCURL_MUTANT=str(mutant), SWIFT_BACKTRACE="enable=no")
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        said = process.communicate(timeout=LONGEST)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    if not re.search(r"Test run with [1-9]", said):
        sys.exit("run.py: no test is named %s" % tests)
    return process.returncode == 0


def main():
    # However it ends, the sources are put back.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("run.py: ended"))
    chosen = mutants()
    wanted = set(sys.argv[1:])
    if wanted:
        chosen = [mutant for mutant in chosen if wanted & set(mutant.rows)]
    git = ["git", "-C", ROOT]
    if subprocess.run(git + ["status", "--porcelain", "Sources"], capture_output=True, check=True).stdout:
        sys.exit("run.py: Sources has changes that are not committed")
    try:
        open(os.path.join(ROOT, SWITCH), "w", encoding="utf-8").write(SWITCH_TEXT)
        for mutant in chosen:
            mutant.apply()
        built = subprocess.run(["swift", "build", "--build-tests"], cwd=ROOT, capture_output=True, text=True)
        if built.returncode:
            sys.exit("run.py: the mutants do not compile:\n" + "\n".join(
                line for line in built.stdout.split("\n") if "error:" in line))
        survivors = 0
        for mutant in chosen:
            if not passes(mutant.tests):
                verdict = "FAILS WITHOUT IT"
            elif passes(mutant.tests, mutant.number):
                verdict = "SURVIVES"
            else:
                verdict = "found"
            survivors += verdict != "found"
            print("%-16s %-12s %s" % (verdict, " ".join(mutant.rows), mutant.file), flush=True)
        print("%d of %d mutants found" % (len(chosen) - survivors, len(chosen)))
        return 1 if survivors else 0
    finally:
        os.remove(os.path.join(ROOT, SWITCH))
        subprocess.run(git + ["checkout", "--quiet", "--"] + sorted({mutant.file for mutant in chosen}), check=True)


sys.exit(main())
