#!/usr/bin/env python3
"""Compares the public API of modules with lists. tools/api

  api.py list MODULE [OPTION...]                 prints the list of a compiled module
  api.py check LIST MODULE [OPTION...]           says what of LIST the module lacks or declares otherwise
  api.py record FOLDER MODULE,… [OPTION...]      writes the list of each of our own modules into FOLDER
  api.py breaks FOLDER PAGE MODULE,… [OPTION...] says what of those lists the modules lack or declare otherwise, where no code
                                                 span of PAGE names it

OPTIONs go to swift-symbolgraph-extract, as `-I FOLDER`. Tests/API/foundationnetworking.tsv was made by
`api.py list FoundationNetworking` with the toolchain that its first line names.

One line a declaration: path, kind, access, the declaration as the compiler prints it, what it conforms to. Whether a
property can be set is what the compiler says of an assignment: it prints `{ get set }` for setters that are not public,
too. What a module has besides, a wider access (`open` for `public`, a setter more) and a deprecation less are no
differences: no source that compiles with the one fails with the other.
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
    """The declaration in one line; a stored property's and a computed one's look the same from outside, and `@frozen` forbids nothing."""
    words = "".join(part["spelling"] for part in symbol["declarationFragments"])
    return re.sub(r"\s+", " ", words).removeprefix("@frozen ").removesuffix(" { get set }")


def settable(module, options, properties):
    """Of these, (path, whether it is the type's own), the paths that a program may assign to."""
    lines = [f"import Foundation; import {module}"]
    for path, is_static in properties:
        owner, _, name = path.rpartition(".")
        value, parameters = (owner, "") if is_static else ("value", f"_ value: inout {owner}")
        lines.append(f"func assign{len(lines)}({parameters}) {{ let other = {value}.`{name}`; {value}.`{name}` = other }}")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "main.swift")
        file.write_text("\n".join(lines))
        options = [*options, "-swift-version", "5", "-suppress-warnings"]
        command = ["swiftc", "-typecheck", "-parse-as-library", str(file)] + options
        said = subprocess.run(command, capture_output=True, text=True).stderr
    refused = {int(line) for line in re.findall(r"main\.swift:(\d+):\d+: error:", said)}
    if 1 in refused or ("error:" in said and not refused):
        sys.exit(said)
    return {path for number, (path, _) in enumerate(properties, start=2) if number not in refused}


def declarations(module, options):
    found = list(printed(module, options))
    properties = sorted({
        (one.path, one.kind == "type.property") for one in found
        if one.kind.endswith("property") and "let " not in one.text and not one.text.endswith("{ get }")})
    may_be_set = settable(module, options, properties)
    for one in found:
        is_fixed = (one.path, one.kind == "type.property") in properties and one.path not in may_be_set
        yield one._replace(text=one.text + " { get }") if is_fixed else one


def printed(module, options):
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
    return (have.kind == wanted.kind and have.text in (wanted.text, wanted.text.removesuffix(" { get }"))
            and have.conformances >= wanted.conformances
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


def lines(module, options):
    for one in sorted(set(declarations(module, options)), key=lambda one: one[:4]):
        yield "\t".join([*one[:4], ", ".join(sorted(one.conformances))])


def breaks(folder, page, modules, options):
    """A path is named by its last component, or by one of the types that it stands in. `init` alone names nothing."""
    spans = re.findall(r"`([^`]+)`", pathlib.Path(page).read_text())
    named, found = {word for span in spans for word in re.findall(r"\w+", span)} - {"init"}, 0
    for module in modules:
        wanted, have = by_path(read(pathlib.Path(folder, f"{module}.tsv"))), by_path(declarations(module, options))
        for path in sorted(wanted):
            lacking = [one for one in wanted[path] if not any(satisfies(ours, one) for ours in have.get(path, []))]
            if not lacking:
                continue
            parts = path.split(".")
            gone = next((count for count in range(1, len(parts) + 1) if ".".join(parts[:count]) not in have), len(parts))
            if any(re.match(r"\w*", part).group() in named for part in parts[:gone]):
                continue
            found += 1
            print(f"break in {module}: {path}")
            for one in lacking:
                print("    was", show(one))
            for ours in have.get(path, []):
                print("    is ", show(ours))
    print(f"api: {len(modules)} modules, {found} breaks that {page} does not name")
    return bool(found)


def main(arguments):
    match arguments:
        case ["list", module, *options]:
            print(*lines(module, options), sep="\n")
        case ["record", folder, modules, *options]:
            for module in modules.split(","):
                pathlib.Path(folder, f"{module}.tsv").write_text("\n".join(lines(module, options)) + "\n")
        case ["breaks", folder, page, modules, *options]:
            return breaks(folder, page, modules.split(","), options)
        case ["check", listed, module, *options]:
            return check(read(listed), declarations(module, options))
        case _:
            return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
