#!/usr/bin/env python3
"""Writes each JSON file below a folder anew, its keys in alphabetical order: docc writes them in the order of a hash, another in each process.
.release/canonical.py FOLDER"""
import json
import pathlib
import sys


def main():
    for path in pathlib.Path(sys.argv[1]).rglob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")


main()
