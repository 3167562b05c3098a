"""The rows of the feature inventory, and the tests that carry their ids."""
import glob
import os
import re
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOUND = os.path.join(ROOT, "Tests/mutations/found.txt")


def rows():
    """Each row's id, and whether its page says why it does not exist here."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "Sources/Uncurl/Uncurl.docc/Inventory/*.md"))):
        for line in open(path, encoding="utf-8"):
            line = line.rstrip("\n")
            if line.startswith("| ") and line.endswith(" |"):
                cells = line[2:-2].split(" | ")
                if re.fullmatch("[A-Z][0-9]+", cells[0]):
                    found[cells[0]] = cells[-1]
    return found


def others(row, cell):
    """The rows by which a wish of users is proved: its page names them in place of tests of its own."""
    names = cell.split(", ")
    return names if row.startswith("W") and all(re.fullmatch("[A-Z][0-9]+", name) for name in names) else []


def declarations():
    """Each test: its suite's type and the name that the suite goes by, its function, what stands in its @Test, and its folder."""
    names, found = {}, []
    pattern = (r"@Suite(?:\(\s*\"((?:[^\"\\]|\\.)*)\"[^\n]*\))?[^\n]*?\s+(?:@\w+\s+)*(?:final )?(?:struct|class|actor) (\w+)|"
               r"^(?:final )?(?:struct|class|extension|actor) (\w+)|"
               r"@Test\(((?:(?!@Test).)*?)\)\s*\n\s*(?:@\w+[^\n]*\n\s*)*(?:(?:fileprivate|private|static) )*func (\w+)")
    for path in sorted(glob.glob(os.path.join(ROOT, "Tests/*Tests/**/*.swift"), recursive=True)):
        module = os.path.relpath(path, os.path.join(ROOT, "Tests")).split(os.sep)[0]
        suite = None
        for match in re.finditer(pattern, open(path, encoding="utf-8").read(), re.M | re.S):
            name, titled, plain, head, function = match.groups()
            suite = titled or plain or suite
            if titled:
                names[module, titled] = unescaped(name) if name else titled
            if function:
                found.append((suite, function, head, module))
    return [(suite, names.get((module, suite), suite), function, head, module) for suite, function, head, module in found]


def unescaped(text):
    return re.sub(r"\\(.)", r"\1", text)


def tests():
    """For each row its tests, as SUITE/FUNCTION, each with the folder that it lies in."""
    found = {}
    for suite, _, function, head, module in declarations():
        trait = re.search(r"\.rows\(([^)]*)\)", head)
        for row in re.findall(r'"([A-Z]\d+)"', trait.group(1)) if trait else []:
            found.setdefault(row, []).append(("%s/%s" % (suite, function), module))
    return found


def passes(command, environment, limit):
    """Whether tests pass; what takes too long does not."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        said = process.communicate(timeout=limit)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    if process.returncode == 0 and not re.search(r"Test run with [1-9]", said):
        sys.exit("no test is named %s" % command[-1])
    return process.returncode == 0


def kept():
    """What searches have found: row, file, line, test."""
    if not os.path.exists(FOUND):
        return {}
    lines = [line.rstrip("\n").split(" | ", 3) for line in open(FOUND, encoding="utf-8") if " | " in line]
    return {line[0]: tuple(line[1:]) for line in lines}


def keep(results):
    everything = {**kept(), **results}
    order = sorted(everything, key=lambda row: (row[0], int(row[1:])))
    with open(FOUND, "w", encoding="utf-8") as file:
        for row in order:
            test, path, line = everything[row] if len(everything[row]) == 3 else ("", "", "")
            file.write(" | ".join((row, test, path, line)) + "\n")
