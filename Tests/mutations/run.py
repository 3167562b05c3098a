#!/usr/bin/env python3
"""Breaks behaviour on purpose, one rule at a time, and shows that a test of the row that states the rule fails.

usage: run.py [ROW ...]            all mutants of mutations.txt, which break Uncurl's rows in its inventory, or those of these rows
       run.py --search [ROW ...]   breaks the code that the tests of a row reach, place by place, until a test of the row fails: for
                                   all rows without a mutant, or these. What is found is kept in found.txt.
       run.py --security [ROW ...] all mutants of guards.txt, which take out the guards of Tests/security/HISTORY.md, or those of these rows
       run.py --list               how many rows have a mutant, a place that was found, a test alone, or a reason; of either page

All mutants of a list are built into one test binary: each changed place asks at run time whether its mutant is on. The sources
are changed for that and put back at the end; they must be as committed.
"""
import os
import re
import signal
import subprocess
import sys

import history
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
    """What it changes, and the tests that must find it: for each set of tests, the rows that these prove."""

    def __init__(self, number, file, text, proofs):
        self.number, self.file, self.proofs = number, file, proofs
        self.rows = [row for rows in proofs.values() for row in rows]
        self.switch = os.path.join(ROOT, SWITCH % self.file.split("/")[1])
        self.old, self.new = text.split("\n--->\n")

    def apply(self):
        path = os.path.join(ROOT, self.file)
        text = open(path, encoding="utf-8").read()
        if text.count(self.old) != 1:
            sys.exit("run.py: mutant of %s: %s has its text %d times" % (self.rows, self.file, text.count(self.old)))
        text = text.replace(self.old, self.new.replace("MUTANT", "Mutant.isOn(%d)" % self.number))
        open(path, "w", encoding="utf-8").write(text)


def blocks(name):
    """The entries of a list: a number, the parts of the head, and the two texts."""
    text = open(os.path.join(ROOT, "Tests/mutations", name), encoding="utf-8").read()
    for number, block in enumerate(re.split(r"^===.*\n", text, flags=re.M)[1:], 1):
        head, texts = block.strip("\n").split("\n", 1)
        yield number, [part.strip() for part in head.split("|", 2)], texts


def mutants():
    return [Mutant(number, file, texts, {tests: rows.split()}) for number, (rows, file, tests), texts in blocks("mutations.txt")]


def guards():
    """The tests that must find them are those that the page names for the row."""
    page, found = history.rows(), []
    for number, (rows, file), texts in blocks("guards.txt"):
        proofs = {}
        for row in rows.split("; "):
            tests = "|".join(re.escape(test) + r"\(" for test, _ in page[row])
            proofs.setdefault(tests, []).append(row)
        found.append(Mutant(number, file, texts, proofs))
    return found


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
    print("%d rows of the inventory" % len(rows))
    for kind, those in kinds.items():
        print("%4d have %s%s" % (len(those), kind, ": " + " ".join(those) if kind in ("a test alone", "nothing") and those else ""))


def summary_of_guards():
    page = history.rows()
    written = {row for guard in guards() for row in guard.rows}
    kinds = {"a mutant": written, "a test alone": {row for row in page if page[row]} - written,
             "a reason": {row for row in page if not page[row]}}
    print("%d rows of Tests/security/HISTORY.md" % len(page))
    for kind, those in kinds.items():
        print("%4d have %s%s" % (len(those), kind, ": " + "; ".join(sorted(those)) if kind == "a test alone" and those else ""))


def searched(wanted):
    import search
    written = {row for mutant in mutants() for row in mutant.rows}
    chosen = [row for row, cell in inventory.rows().items() if not cell.startswith("None: ") and row in inventory.tests()]
    chosen = [row for row in chosen if (row in wanted if wanted else row not in written)]
    results = search.search(chosen)
    inventory.keep(results)
    print("%d of %d rows found" % (len(results), len(chosen)))
    return 0 if len(results) == len(chosen) else 1


def rooms(chosen):
    """The rooms whose tests find guards."""
    page = history.rows()
    return ",".join(sorted({folder[:-5] for mutant in chosen for row in mutant.rows for _, folder in page[row]}))


def verdict(mutant, tests, known):
    """`known`: whether the tests pass without a mutant."""
    if tests not in known:
        known[tests] = passes(tests)
    if not known[tests]:
        return "FAILS WITHOUT IT"
    return "SURVIVES" if passes(tests, mutant.number) else "found"


def main():
    # However it ends, the sources are put back.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("run.py: ended"))
    kind = sys.argv[1] if sys.argv[1:2] and sys.argv[1].startswith("--") else ""
    wanted = set(sys.argv[2:] if kind else sys.argv[1:])
    if kind == "--list":
        summary()
        return summary_of_guards()
    if kind == "--search":
        return searched(wanted)
    chosen = guards() if kind == "--security" else mutants()
    unknown = wanted - {row for mutant in chosen for row in mutant.rows}
    if unknown:
        sys.exit("run.py: there is no mutant of " + "; ".join(sorted(unknown)))
    if wanted:
        chosen = [mutant for mutant in chosen if wanted & set(mutant.rows)]
    built_rooms = rooms(chosen) if kind == "--security" else "Uncurl"
    git = ["git", "-C", ROOT]
    if subprocess.run(git + ["status", "--porcelain", "Sources"], capture_output=True, check=True).stdout:
        sys.exit("run.py: Sources has changes that are not committed")
    try:
        for mutant in chosen:
            mutant.apply()
            open(mutant.switch, "w", encoding="utf-8").write(SWITCH_TEXT)
        built = subprocess.run(["swift", "build", "--traits", "Commands", "--build-tests"], cwd=ROOT, capture_output=True, text=True,
                               env=dict(os.environ, UNCURL_ROOM=built_rooms))
        if built.returncode:
            sys.exit("run.py: the mutants do not compile:\n" + "\n".join(
                line for line in built.stdout.split("\n") if "error:" in line))
        known, shown, missed = {}, set(), set()
        for mutant in chosen:
            for tests, rows in mutant.proofs.items():
                found = verdict(mutant, tests, known)
                (shown if found == "found" else missed).update(rows)
                print("%-16s %-12s %s" % (found, "; ".join(rows), mutant.file), flush=True)
        print("%d rows shown, %d not" % (len(shown - missed), len(missed)))
        return 1 if missed else 0
    finally:
        for switch in {mutant.switch for mutant in chosen}:
            if os.path.exists(switch):
                os.remove(switch)
        subprocess.run(git + ["checkout", "--quiet", "--"] + sorted({mutant.file for mutant in chosen}), check=True)


sys.exit(main())
