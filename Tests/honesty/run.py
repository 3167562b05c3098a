#!/usr/bin/env python3
"""The ways in which a load tester could lie, tried on volley in full: tools/honesty [--binaries DIR] [NUMBER …]

Each module here named checks_*.py has CHECKS; the table says what was promised and what was measured. Fails if one is missed. The
margins are those of a machine with nothing else to do.
"""

import importlib
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from honesty import ROOT, Bench, Missed  # noqa: E402


def main():
    arguments = sys.argv[1:]
    binaries = ROOT / ".build" / "release"
    if arguments[:1] == ["--binaries"]:
        binaries, arguments = pathlib.Path(arguments[1]), arguments[2:]
    wanted = set(arguments)
    folder = pathlib.Path(__file__).resolve().parent
    checks = []
    for path in sorted(folder.glob("checks_*.py")):
        checks += importlib.import_module(path.stem).CHECKS
    checks.sort(key=lambda one: (int("".join(c for c in one.number if c.isdigit())), one.number))
    bench = Bench(binaries)
    missed = 0
    print(f"{'':4} {'':6} {'check':58} {'promised':40} measured")
    for one in checks:
        if wanted and one.number not in wanted and one.number.rstrip("abcdefgh") not in wanted:
            continue
        begun = time.monotonic()
        try:
            word, measured = "pass", one.run(bench)
        except Missed as problem:
            word, measured = "MISSED", str(problem)
            missed += 1
        except Exception as problem:  # A check that breaks is no check that passes.
            word, measured = "BROKEN", f"{type(problem).__name__}: {problem}"
            missed += 1
        print(f"{one.number:>4} {word:6} {one.title:58} {one.margin:40} {measured}  [{time.monotonic() - begun:.0f} s]", flush=True)
    print("all within their margins" if missed == 0 else f"{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
