#!/usr/bin/env python3
"""The jobs of a newcomer, in a new package in an empty folder, by the pages alone: the manifest of "A first request", and for each question of "How do I …?" a
program of the blocks that stand in the section it links. All must compile at once. What they do when they run, the test "Articles" checks.

usage: newcomer.py FOLDER     FOLDER is made, and kept for the next time
"""
import os
import re
import subprocess
import sys

import articles
import links

CATALOGUE = os.path.join(articles.ROOT, "Sources/Uncurl/Uncurl.docc")
# What the sections say of the reader's own program.
OWN = """
let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1"))
let (folder, photo, place) = (URL(filePath: "/tmp"), URL(filePath: "/tmp/photo.jpg"), URL(filePath: "/tmp/place"))
let url = URL(string: "https://api.example.com/")!
"""


def section(text, heading):
    """What stands between a heading and the next of its level."""
    found, level = [], 0
    for line in text.split("\n"):
        title = re.match(r"(#+) +(.*?) *$", line)
        if title and level and len(title.group(1)) <= level:
            break
        if title and not level and heading in links.headings(line):
            level = len(title.group(1))
        if level:
            found.append(line)
    return "\n".join(found)


def jobs():
    """Each question that a section answers with code: its name, and the imports and blocks."""
    text = links.read(os.path.join(CATALOGUE, "Questions.md"))
    first = articles.groups("", section(links.read(os.path.join(CATALOGUE, "FirstRequest.md")), "get-a-value"))
    for page, heading in re.findall(r"\]\((\w+\.md)#([^)]+)\)", text):
        found = articles.groups("", section(links.read(os.path.join(CATALOGUE, page)), heading))
        imports = sorted({line for group in found for line in group.imports} | {"import Uncurl"})
        blocks = [block for group in found for _, block in group.blocks]
        if blocks and heading != "add-the-package":
            # The value that all pages get.
            types = [line for group in first for _, block in group.blocks for line in block.split("\n") if line.startswith("struct ")]
            yield page[:-3] + "-" + heading, imports, types, blocks


def manifest(names):
    """That of the page, with this clone as the package, and a program for each job."""
    page = links.read(os.path.join(CATALOGUE, "FirstRequest.md"))
    text = re.search(r"```swift\n(// swift-tools-version.*?)```", page, re.S).group(1)
    text = re.sub(r"\.package\(url: [^)]*\)", '.package(name: "uncurl", path: "%s")' % articles.ROOT, text)
    targets = ", ".join('.executableTarget(name: "%s", dependencies: [%s])' % (name, ", ".join(
        '.product(name: "%s", package: "uncurl")' % product for product in products)) for name, products in names)
    return re.sub(r"targets: \[.*?\n\)", "targets: [%s]\n)" % targets, text, flags=re.S)


def main():
    folder = sys.argv[1]
    made = []
    for name, imports, types, blocks in jobs():
        products = sorted({line.split()[1] for line in imports} & {"Uncurl", "UncurlExtras", "UncurlXML", "UncurlTestKit", "URLLoading"})
        made.append((name, products))
        declared = [line for line in types if not any(re.search(r"\bstruct User\b", block) for block in blocks)]
        code = "\n".join(imports + declared) + "\nfunc job() async throws {" + OWN
        code += "".join("do {\n%s\n" % block for block in blocks) + "}\n" * len(blocks) + "}\ntry await job()\n"
        os.makedirs(os.path.join(folder, "Sources", name), exist_ok=True)
        articles.write(os.path.join(folder, "Sources", name), "main.swift", code)
    articles.write(folder, "Package.swift", manifest(made))
    ended = subprocess.run(["swift", "build", "--package-path", folder, "-Xswiftc", "-suppress-warnings"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode != 0:
        sys.exit(ended.stdout)
    print(f"newcomer: {len(made)} jobs compile at once, in a package of their own")


if __name__ == "__main__":
    main()
