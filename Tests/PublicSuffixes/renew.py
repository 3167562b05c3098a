#!/usr/bin/env python3
"""Makes Sources/CUncurlPublicSuffixes/public_suffixes.c of a public_suffix_list.dat: tools/publicsuffix [FILE]"""

import re
import sys

HEAD = """/*
 * The rules of the Public Suffix List, {version}: written by tools/publicsuffix, not by hand.
 *
 * This Source Code Form is subject to the terms of the Mozilla Public
 * License, v. 2.0. If a copy of the MPL was not distributed with this
 * file, You can obtain one at https://mozilla.org/MPL/2.0/.
 *
 * {count} rules, a line each: labels from the last to the first, in ASCII (RFC 3492), "!" behind an exception. Sorted by octets.
 */

#include "public_suffixes.h"

static const char rules[] =
"""

TAIL = """
const char *uncurl_public_suffixes(void) {{ return rules; }}

size_t uncurl_public_suffixes_length(void) {{ return sizeof rules - 1; }}

const char *uncurl_public_suffixes_version(void) {{ return "{version}"; }}
"""


def line(rule):
    exception = rule.startswith("!")
    labels = rule.lstrip("!").split(".")
    encoded = [label.lower() if label.isascii() else label.encode("idna").decode("ascii") for label in labels]
    return ".".join(reversed(encoded)) + ("!" if exception else "")


def main(source, target):
    text = open(source, encoding="utf-8").read()
    rules = {line(words.split()[0]) for words in text.splitlines() if words.strip() and not words.startswith("//")}
    if len(rules) < 5000:
        sys.exit(f"{source}: {len(rules)} rules are too few for a Public Suffix List")
    for rule in rules:
        if not re.fullmatch(r"[a-z0-9.*-]+!?", rule):
            sys.exit(f"{source}: a rule that is none: {rule!r}")
    stated = re.search(r"^// VERSION: (\S+)$", text, re.MULTILINE)
    version = stated.group(1) if stated else "of an unknown date"
    out = HEAD.format(version=version, count=len(rules))
    row = ""
    for rule in sorted(rules):
        if len(row) + len(rule) + 2 > 112:
            out += f'    "{row}"\n'
            row = ""
        row += rule + "\\n"
    out += f'    "{row}";\n'
    open(target, "w", encoding="ascii").write(out + TAIL.format(version=version))
    print(f"{len(rules)} rules, {sum(len(rule) + 1 for rule in rules)} octets, version {version}")


main(sys.argv[1], sys.argv[2])
