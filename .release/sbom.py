#!/usr/bin/env python3
"""The software bill of materials of a release, SPDX 2.3 as JSON (ISO/IEC 5962): the files in a folder, the Swift packages whose code is in the
commands, the Swift runtime that is linked in, and the system libraries that they load.
.release/sbom.py FOLDER VERSION COMMIT SECONDS"""
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys

# What the commands link of the packages that SwiftPM resolves; the others stand behind traits.
LINKED = {
    "swift-argument-parser": "Apache-2.0 WITH Swift-exception",
    "hdrhistogram-swift": "Apache-2.0",
    "swift-numerics": "Apache-2.0 WITH Swift-exception",
}
# Debian's packages of the libraries that the commands load.
SYSTEM = {"libssl-dev": ("OpenSSL", "Apache-2.0"), "zlib1g-dev": ("zlib", "Zlib")}


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def package(name, version, location, licence, purpose="LIBRARY"):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version, "downloadLocation": location,
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": purpose,
    }


def packages(version):
    yield package("uncurl", version, "NOASSERTION", "Apache-2.0", "APPLICATION")
    pins = {pin["identity"]: pin for pin in json.loads(pathlib.Path("Package.resolved").read_text())["pins"]}
    for name, licence in LINKED.items():
        if name not in pins:
            sys.exit(f"sbom: the commands link {name}, which Package.resolved does not name")
        yield package(name, pins[name]["state"]["version"], "git+" + pins[name]["location"], licence)
    swift = re.search(r"Swift version (\S+)", said("swift", "--version")).group(1)
    yield package("swift-runtime", swift, "https://www.swift.org/download/", "Apache-2.0 WITH Swift-exception")
    for name, (library, licence) in SYSTEM.items():
        yield package(library, said("dpkg-query", "-W", "-f=${Version}", name), "NOASSERTION", licence)


def files(folder):
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        yield {
            "SPDXID": "SPDXRef-File-" + re.sub(r"[^A-Za-z0-9.-]", "-", path.name), "fileName": "./" + path.name,
            "checksums": [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, content).hexdigest()} for name in ("sha1", "sha256")],
            "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION",
        }


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def main():
    folder, version, commit, seconds = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    listed, made = list(packages(version)), list(files(folder))
    root = listed[0]["SPDXID"]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"uncurl-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/uncurl-{version}-{commit}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: Uncurl", "Tool: .release/sbom.py"],
        },
        "packages": listed, "files": made,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", root)]
        # Not CONTAINS, which SPDX keeps for packages whose every file was analysed.
        + [relation(file["SPDXID"], "GENERATED_FROM", root) for file in made]
        + [relation(root, "DYNAMIC_LINK" if one["name"] in {name for name, _ in SYSTEM.values()} else "STATIC_LINK", one["SPDXID"])
           for one in listed[1:]],
    }
    print(json.dumps(document, indent=2))


main()
