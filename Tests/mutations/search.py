"""Breaks the conditions that the tests of a row reach, one at a time, until one of these tests fails.

All places are changed in one build: each asks at run time whether it is the one that is broken. Those that the fewest tests
reach are broken first: they are most likely what the row is about. Sources are put back at the end.
"""
import os
import re
import subprocess
import sys
import tempfile

import rows as inventory

ROOT = inventory.ROOT
MODULES = ["Uncurl", "UncurlExtras", "UncurlXML"]
BINARY = ".build/debug/uncurlPackageTests.xctest"
# A test that waits for what never comes has been found too. Others take a second.
LONGEST = 20
# So many places are broken for a row before it counts as not found.
MOST = 14

SWITCH = """internal import Foundation

/// Made by Tests/mutations/search.py, which removes it again.
enum Mutant {
    private static let broken = ProcessInfo.processInfo.environment["UNCURL_MUTANT"].flatMap { Int($0) } ?? 0
    nonisolated(unsafe) private static let reached: UnsafeMutablePointer<UInt8>? = {
        guard ProcessInfo.processInfo.environment["UNCURL_REACHED"] != nil else { return nil }
        let marks = UnsafeMutablePointer<UInt8>.allocate(capacity: COUNT)
        marks.initialize(repeating: 0, count: COUNT)
        atexit { Mutant.write() }
        return marks
    }()

    /// False where this place is broken.
    static func passes(_ place: Int) -> Bool {
        reached?[place] = 1
        return place != broken
    }

    private static func write() {
        guard let reached, let folder = ProcessInfo.processInfo.environment["UNCURL_REACHED"] else { return }
        let places = (0..<COUNT).filter { reached[$0] == 1 }.map { "\\($0)" }.joined(separator: " ")
        try? places.write(toFile: folder + "/MODULE", atomically: true, encoding: .utf8)
    }
}
"""


class Place:
    """A line that may be broken."""

    def __init__(self, module, path, line):
        self.module, self.path, self.line = module, path, line


def places():
    """Conditions, which do not hold where they are broken."""
    found = []
    condition = re.compile(r"^\s*(\} else if|else if|if|guard) (?!#|let _)")
    for module in MODULES:
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, "Sources", module))):
            for name in sorted(names):
                if not name.endswith(".swift"):
                    continue
                path = os.path.join(folder, name)
                quoted = False
                for number, line in enumerate(open(path, encoding="utf-8").read().split("\n")):
                    if line.count('"""') == 1:
                        quoted = not quoted
                    if quoted or line.lstrip().startswith("//"):
                        continue
                    if condition.match(line):
                        found.append(Place(module, path, number))
    return found


def broken(line, number):
    return re.sub(r"^(\s*(?:\} else if|else if|if|guard)) ", r"\1 Mutant.passes(%d), " % number, line, count=1)


def change(found):
    files = {}
    for number, place in enumerate(found, 1):
        files.setdefault(place.path, []).append((number, place))
    for path, changes in files.items():
        lines = open(path, encoding="utf-8").read().split("\n")
        for number, place in changes:
            lines[place.line] = broken(lines[place.line], number)
        open(path, "w", encoding="utf-8").write("\n".join(lines))
    for module in MODULES:
        text = SWITCH.replace("COUNT", str(len(found) + 1)).replace("MODULE", module)
        open(os.path.join(ROOT, "Sources", module, "Mutant.swift"), "w", encoding="utf-8").write(text)


def restore():
    for module in MODULES:
        path = os.path.join(ROOT, "Sources", module, "Mutant.swift")
        if os.path.exists(path):
            os.remove(path)
    subprocess.run(["git", "-C", ROOT, "checkout", "--quiet", "--"] + ["Sources/" + module for module in MODULES], check=True)


def build(found):
    """Builds with all places changed, without those that do not compile so; what is left."""
    environment = dict(os.environ, UNCURL_ROOM=",".join(MODULES))
    for _ in range(12):
        change(found)
        built = subprocess.run(["swift", "build", "--traits", "Commands", "--build-tests"], cwd=ROOT, capture_output=True, text=True, env=environment)
        if built.returncode == 0:
            return found
        wrong = set()
        for path, line in re.findall(r"^(/[^:\n]+):(\d+):\d+: error:", built.stdout, re.M):
            wrong.add((os.path.relpath(path, ROOT), int(line) - 1))
        left = [place for place in found if not concerns(place, wrong)]
        restore()
        if len(left) == len(found):
            sys.exit("search.py: it does not compile:\n" + built.stdout[-3000:])
        print("%d places do not compile" % (len(found) - len(left)), file=sys.stderr, flush=True)
        found = left
    sys.exit("search.py: it does not compile")


def concerns(place, wrong):
    return (os.path.relpath(place.path, ROOT), place.line) in wrong


def run(tests, number=0, folder=None, limit=LONGEST):
    """Whether the tests pass."""
    command = [BINARY, "--testing-library", "swift-testing", "--experimental-maximum-parallelization-width", "4", "--filter",
               "|".join(re.escape(test) + r"\(" for test in tests)]
    environment = dict(os.environ, UNCURL_MUTANT=str(number), SWIFT_BACKTRACE="enable=no")
    if folder:
        environment["UNCURL_REACHED"] = folder
    return inventory.passes(command, environment, limit)


def reached(test):
    """The places that a test reaches; None where it does not pass."""
    with tempfile.TemporaryDirectory() as folder:
        if not run([test], folder=folder, limit=90):
            return None
        found = set()
        for name in os.listdir(folder):
            found |= {int(word) for word in open(os.path.join(folder, name), encoding="utf-8").read().split()}
        return found


def search(wanted):
    """For each row the place whose breaking a test of the row has found."""
    if subprocess.run(["git", "-C", ROOT, "status", "--porcelain", "Sources"], capture_output=True, check=True).stdout:
        sys.exit("search.py: Sources has changes that are not committed")
    tests = inventory.tests()
    results = {}
    try:
        found = build(places())
        lines = {path: open(path, encoding="utf-8").read().split("\n") for path in {place.path for place in found}}
        print("%d places" % len(found), flush=True)
        concerned = {row: [name for name, module in tests.get(row, []) if module[:-5] in MODULES] for row in wanted}
        sites = {test: reached(test) for test in sorted({test for row in wanted for test in concerned[row]})}
        for test, places_of in sites.items():
            if places_of is None:
                print("FAILS WITHOUT IT %s" % test, flush=True)
        popularity = {}
        for places_of in sites.values():
            for place in places_of or ():
                popularity[place] = popularity.get(place, 0) + 1
        for row in wanted:
            own = [test for test in concerned[row] if sites.get(test)]
            candidates = sorted({place for test in own for place in sites[test]}, key=lambda place: (popularity[place], place))
            result = None
            for number in candidates[:MOST]:
                hit = [test for test in own if number in sites[test]]
                if not run(hit, number):
                    result = (number, hit)
                    break
            if not result:
                print("%-16s %s" % ("NOT FOUND" if own else "NO TEST HERE", row), flush=True)
                continue
            place = found[result[0] - 1]
            line = lines[place.path][place.line].strip()
            line = re.sub(r"Mutant\.passes\(\d+\), ", "", line)
            results[row] = (result[1][0], os.path.relpath(place.path, ROOT), line)
            print("%-16s %-5s %s: %s" % ("found", row, *results[row][1:]), flush=True)
    finally:
        restore()
    return results
