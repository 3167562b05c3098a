#!/usr/bin/env python3
"""Breaks behaviour of Uncurl's on purpose, one rule at a time, and shows that a test of its inventory row fails.

usage: run.py [ROW ...]            all mutants of mutations.txt, or those of these rows
       run.py --search [ROW ...]   breaks the code that the tests of a row reach, place by place, until a test of the row fails: for
                                   all rows without a mutant, or these. What is found is kept in found.txt.
       run.py --list               how many rows have a mutant, a place that was found, a test alone, or a reason

All mutants are built into one test binary: each changed place asks at run time whether its mutant is on. The sources are
changed for that and put back at the end; they must be as committed.
"""
import os
import re
import signal
import subprocess
import sys

import rows as inventory

ROOT = inventory.ROOT
# A mutant whose test waits for what never comes has been found too.
LONGEST = 75
# In each module that a mutant changes.
SWITCH = "Sources/%s/Mutant.swift"
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
        self.switch = os.path.join(ROOT, SWITCH % self.file.split("/")[1])
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
    """Whether the tests pass; what takes too long does not."""
    command = [".build/debug/uncurlPackageTests.xctest", "--testing-library", "swift-testing",
               "--experimental-maximum-parallelization-width", "4", "--filter", tests]
    return inventory.passes(command, dict(os.environ, UNCURL_MUTANT=str(mutant), SWIFT_BACKTRACE="enable=no"), LONGEST)


def summary():
    """What is known of each row."""
    rows, tests, found = inventory.rows(), inventory.tests(), inventory.kept()
    written = {row for mutant in mutants() for row in mutant.rows}
    kinds = {"a mutant": [], "a place that a search has found": [], "a test alone": [], "a reason": [], "nothing": []}
    for row, cell in rows.items():
        if cell.startswith("None: "):
            kinds["a reason"].append(row)
        elif row in written or row in found:
            kinds["a mutant" if row in written else "a place that a search has found"].append(row)
        else:
            others = inventory.others(row, cell)
            if others and all(other in written or other in found for other in others):
                kinds["a place that a search has found"].append(row)
            else:
                kinds["a test alone" if row in tests or others else "nothing"].append(row)
    print("%d rows" % len(rows))
    for kind, those in kinds.items():
        print("%4d have %s%s" % (len(those), kind, ": " + " ".join(those) if kind in ("a test alone", "nothing") and those else ""))


def searched(wanted):
    import search
    written = {row for mutant in mutants() for row in mutant.rows}
    chosen = [row for row, cell in inventory.rows().items() if not cell.startswith("None: ") and row in inventory.tests()]
    chosen = [row for row in chosen if (row in wanted if wanted else row not in written)]
    results = search.search(chosen)
    inventory.keep(results)
    print("%d of %d rows found" % (len(results), len(chosen)))
    return 0 if len(results) == len(chosen) else 1


def main():
    # However it ends, the sources are put back.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("run.py: ended"))
    if sys.argv[1:2] == ["--list"]:
        return summary()
    if sys.argv[1:2] == ["--search"]:
        return searched(set(sys.argv[2:]))
    chosen = mutants()
    wanted = set(sys.argv[1:])
    if wanted:
        chosen = [mutant for mutant in chosen if wanted & set(mutant.rows)]
    git = ["git", "-C", ROOT]
    if subprocess.run(git + ["status", "--porcelain", "Sources"], capture_output=True, check=True).stdout:
        sys.exit("run.py: Sources has changes that are not committed")
    try:
        for mutant in chosen:
            mutant.apply()
            open(mutant.switch, "w", encoding="utf-8").write(SWITCH_TEXT)
        built = subprocess.run(["swift", "build", "--build-tests"], cwd=ROOT, capture_output=True, text=True,
                               env=dict(os.environ, UNCURL_ROOM="Uncurl"))
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
        for switch in {mutant.switch for mutant in chosen}:
            if os.path.exists(switch):
                os.remove(switch)
        subprocess.run(git + ["checkout", "--quiet", "--"] + sorted({mutant.file for mutant in chosen}), check=True)


sys.exit(main())
