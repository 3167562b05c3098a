"""The rows of Tests/security/HISTORY.md, and the tests that the page names for them."""
import os
import re

import rows as inventory


def rows():
    """Each row by its name, which is its first cell without the bracket at its end, with its tests as SUITE/FUNCTION and their
    folders. No tests where the page gives a reason."""
    titled = {}
    for suite, name, function, head, module in inventory.declarations():
        title = re.match(r'\s*"((?:[^"\\]|\\.)*)"', head)
        if title:
            titled[name, inventory.unescaped(title.group(1))] = ("%s/%s" % (suite, function), module)
    found = {}
    for line in open(os.path.join(inventory.ROOT, "Tests", "security", "HISTORY.md"), encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("| ") and line.endswith(" |") and not line.startswith("| what |"):
            cells = line[2:-2].split(" | ")
            name = re.sub(r" \([^)]*\)$", "", cells[0])
            found[name] = [titled[test] for test in re.findall(r"\*([^*]+)\* “([^”]+)”", cells[-1])]
    return found
