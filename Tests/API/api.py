#!/usr/bin/env python3
"""Compares a module's public API with a list. ./dev api

  api.py list MODULE [OPTION...]                 prints the list of a compiled module
  api.py check LIST MODULE [OPTION...]           says what of LIST the module lacks or declares otherwise

OPTIONs go to swift-symbolgraph-extract, as `-I FOLDER`. Tests/API/foundationnetworking.tsv was made by
`api.py list FoundationNetworking` with the toolchain that its first line names.

One line a declaration: path, kind, access, the declaration as the compiler prints it, what it conforms to. What a
module has besides, a wider access (`open` for `public`) and a deprecation less are no differences: no source that
compiles with the one fails with the other.
"""
import collections
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

# What every type has, told or not.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype"}
MODULES = re.compile(r"^(?:Foundation\w*|Swift|ObjectiveC|URLLoading)\.(?=\w)")

Declaration = collections.namedtuple("Declaration", "path kind access text conformances")


def symbol_graphs(module, options):
    """What the compiler knows of the module: its own symbols, and a file for each module that it extends."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["swift-symbolgraph-extract", "-module-name", module, "-output-dir", folder,
                   "-minimum-access-level", "public", "-target", f"{platform.machine()}-unknown-linux-gnu"]
        subprocess.run(command + options, check=True)
        for file in sorted(pathlib.Path(folder).glob("*.symbols.json")):
            yield json.loads(file.read_text())


def conformances(graph):
    """By symbol, the names of what it inherits from and conforms to."""
    names = {symbol["identifier"]["precise"]: ".".join(symbol["pathComponents"]) for symbol in graph["symbols"]}
    result = collections.defaultdict(set)
    for relation in graph["relationships"]:
        if relation["kind"] in ("conformsTo", "inheritsFrom") and relation["source"] in names:
            target = names.get(relation["target"]) or relation.get("targetFallback", relation["target"])
            name = MODULES.sub("", target)
            if name.rpartition(".")[2] not in IMPLIED:
                result[relation["source"]].add(name)
    return result


def is_unavailable(symbol):
    return any(fact.get("isUnconditionallyUnavailable") for fact in symbol.get("availability", []))


def text(symbol):
    """The declaration in one line; a stored property's and a computed one's look the same from outside."""
    words = "".join(part["spelling"] for part in symbol["declarationFragments"])
    return re.sub(r"\s+", " ", words).removesuffix(" { get set }")


def declarations(module, options):
    for graph in symbol_graphs(module, options):
        known = conformances(graph)
        for symbol in graph["symbols"]:
            identifier = symbol["identifier"]["precise"]
            # A protocol's default, copied to each type that has it; and what nobody may use.
            if "::SYNTHESIZED::" in identifier or is_unavailable(symbol):
                continue
            yield Declaration(
                ".".join(symbol["pathComponents"]), symbol["kind"]["identifier"].removeprefix("swift."),
                symbol["accessLevel"], text(symbol), frozenset(known[identifier]))


def read(path):
    for line in open(path):
        if not line.startswith("#"):
            *words, conforming = line.rstrip("\n").split("\t")
            yield Declaration(*words, frozenset(filter(None, conforming.split(", "))))


def by_path(listed):
    result = collections.defaultdict(list)
    for declaration in listed:
        result[declaration.path].append(declaration)
    return result


def satisfies(have, wanted):
    return (have.kind == wanted.kind and have.text == wanted.text and have.conformances >= wanted.conformances
            and (have.access == wanted.access or have.access == "open"))


def show(declaration):
    conforming = ", ".join(sorted(declaration.conformances))
    return f"{declaration.access} {declaration.kind}: {declaration.text}" + (f" : {conforming}" if conforming else "")


def check(wanted, have):
    wanted, have = by_path(wanted), by_path(have)
    missing, different = [path for path in wanted if path not in have], 0
    for path in sorted(missing):
        print("missing   ", path)
    for path in sorted(set(wanted) - set(missing)):
        lacking = [one for one in wanted[path] if not any(satisfies(ours, one) for ours in have[path])]
        if lacking:
            different += 1
            print("different ", path)
            for one in lacking:
                print("    wanted", show(one))
            for ours in have[path]:
                print("    have  ", show(ours))
    types = collections.Counter(path.split(".")[0] for path in missing)
    if types:
        print("missing by type:", ", ".join(f"{name} {count}" for name, count in types.most_common()))
    print(f"api: {len(wanted)} paths wanted, {len(missing)} missing, {different} declared otherwise, "
          f"{len(set(have) - set(wanted))} more of our own")
    return bool(missing or different)


def main(arguments):
    match arguments:
        case ["list", module, *options]:
            for one in sorted(set(declarations(module, options)), key=lambda one: one[:4]):
                print(*one[:4], ", ".join(sorted(one.conformances)), sep="\t")
        case ["check", listed, module, *options]:
            return check(read(listed), declarations(module, options))
        case _:
            return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
