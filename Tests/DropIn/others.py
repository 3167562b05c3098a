#!/usr/bin/env python3
"""Packages of others that import FoundationNetworking, unmodified: each is built and tested with `swift`, and then with `uncurl`.
tools/dropin others [NAME@VERSION ...]. UNCURL_PREFIX: where `tools/dropin` has installed.

The clones, their builds and the logs stay in .build-dropin/others. A table says how many tests have passed each way. The status is 1 where
`uncurl` is behind: a package that only `swift` builds, or a test that passes only with it, is named."""
import collections
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / ".build-dropin/others"
PACKAGES = ["OpenCombine/OpenCombine@0.14.0", "apple/swift-configuration@1.4.0", "apple/swift-http-types@1.8.0",
            "hummingbird-project/swift-mustache@2.1.1", "pointfreeco/swift-custom-dump@1.7.3", "swhitty/FlyingFox@0.27.1"]
# How long a build, or a run of the tests, may take, in seconds.
LIMIT = 3600
# What XCTest, and what Swift Testing, says of a test that has passed.
PASSED = re.compile(r"^Test Case '(.+)' passed|^[✔━] Test (?!run with)(.+?) passed after", re.MULTILINE)

# The tests that have passed, by name with their counts; None for tests that are not built.
Result = collections.namedtuple("Result", "is_built tests")


def run(command, package, log):
    """Runs a command in the package's folder; returns whether it succeeded."""
    with open(log, "w") as output:
        try:
            status = subprocess.run(command, cwd=package, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT).returncode
        except subprocess.TimeoutExpired:
            status = f"no end within {LIMIT} s"
    if status != 0:
        print(f"dropin: {package.name}: {' '.join(command)}: {status}, see {log}", flush=True)
    return status == 0


def clone(package):
    name, version = package.split("@")
    folder = FOLDER / package.replace("/", "-")
    if not folder.exists():
        subprocess.run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--single-branch", "--branch", version,
                        f"https://github.com/{name}", str(folder)], check=True)
    return folder


def result(package, tool, kind):
    options = ["--scratch-path", f".build-{kind}"]
    log = package.parent / f"{package.name}.{kind}.log"
    if not run([tool, "build", "--build-tests", *options], package, log):
        return Result(run([tool, "build", *options], package, log.with_suffix(".alone.log")), None)
    run([tool, "test", *options], package, log)
    said = log.read_text(errors="replace")
    return Result(True, collections.Counter(one or other for one, other in PASSED.findall(said)))


def text(result):
    if not result.is_built:
        return "not built"
    return "built without its tests" if result.tests is None else f"{result.tests.total():,} tests passed"


def behind(stock, ours):
    """What only `swift` manages."""
    if stock.is_built and not ours.is_built:
        return ["the build"]
    if stock.tests is not None and ours.tests is None:
        return ["the build of the tests"]
    return sorted(((stock.tests or collections.Counter()) - (ours.tests or collections.Counter())).elements())


def main():
    uncurl = str(pathlib.Path(os.environ["UNCURL_PREFIX"], "bin/uncurl"))
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in sys.argv[1:] or PACKAGES:
        package = clone(name)
        rows.append((name, result(package, "swift", "stock"), result(package, uncurl, "uncurl")))
    print("\n| package | `swift test` | `uncurl test` |\n|---|---|---|")
    for name, stock, ours in rows:
        print(f"| {name.replace('@', ' ')} | {text(stock)} | {text(ours)} |")
    lost = [(name, what) for name, stock, ours in rows for what in behind(stock, ours)]
    for name, what in lost:
        print(f"dropin: {name}: only swift, not uncurl: {what}")
    sys.exit(1 if lost else 0)


main()
