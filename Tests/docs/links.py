#!/usr/bin/env python3
"""Copies a catalogue for docc. Its pages link to each other as a code host follows it, such as [Add the package](FirstRequest.md#add-the-package); the copy
has the links that docc follows. The test "Pages" checks the links of all pages.

usage: links.py CATALOGUE COPY
"""
import os
import re
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.M | re.S)


def headings(text):
    """The titles of a page, as both name them: a code host in lower case, docc as they are written."""
    titles = re.findall(r"^#+ +(.*?) *$", CODE.sub("", text), re.M)
    kept = [re.sub(r"[^\w \-]", "", title).replace(" ", "-") for title in titles]
    return {anchor.lower(): anchor for anchor in kept}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def places(text):
    """Each link of a page that leads to a file: its match, the path and the heading."""
    for match in LINK.finditer(CODE.sub(lambda code: " " * len(code.group()), text)):
        path, _, heading = match.group(2).partition("#")
        if "://" not in match.group(2) and not path.startswith("mailto:"):
            yield match, path, heading


def for_docc(page, text):
    """A page with docc's links: `doc:` to a page of its catalogue, and the site's path to one of another catalogue."""
    catalogue = page[:page.index(".docc") + len(".docc")]
    topics = text.find("\n## Topics\n")
    for match, path, heading in reversed(list(places(text))):
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        name = os.path.splitext(os.path.basename(target))[0]
        if not os.path.exists(target) or heading and heading not in headings(read(target)):
            sys.exit(f"{page} links to {match.group(2)}, which is not there")
        anchor = "#" + headings(read(target))[heading] if heading else ""
        if target.startswith(catalogue + os.sep):
            link = f"doc:{name}{anchor}"
            link = f"<{link}>" if 0 <= topics < match.start() else f"[{match.group(1)}]({link})"
        elif ".docc" in target:
            module = os.path.splitext(os.path.basename(target[:target.index(".docc") + len(".docc")]))[0]
            own = "" if name == module else "/" + name.lower()
            link = f"[{match.group(1)}](/documentation/{module.lower()}{own}{anchor})"
        else:
            # The site has no files of the repository.
            link = match.group(1)
        text = text[:match.start()] + link + text[match.end():]
    return text


def copy(catalogue, destination):
    shutil.rmtree(destination, ignore_errors=True)
    shutil.copytree(catalogue, destination)
    for folder, _, names in os.walk(catalogue):
        for name in names:
            if name.endswith(".md"):
                page = os.path.join(folder, name)
                made = os.path.join(destination, os.path.relpath(page, catalogue))
                with open(made, "w", encoding="utf-8") as file:
                    file.write(for_docc(os.path.normpath(page), read(page)))


if __name__ == "__main__":
    os.chdir(ROOT)
    copy(sys.argv[1], sys.argv[2])
