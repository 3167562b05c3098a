#!/usr/bin/env python3
"""Compiles every block of Swift in the pages as it stands there, and runs those that need no other machine.

usage: articles.py BUILT [PAGE ...]     BUILT is the folder of a debug build of the libraries, such as .build/debug

The blocks of a page are one function: a block sees what those before it have declared, and one that imports begins
anew. `given.swift` has the manager that they use, and the servers of this machine that stand for those of their URLs.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = ["UncurlLibC", "UncurlText", "UncurlHTTP1", "UncurlSemantics", "UncurlReactor", "UncurlTLS", "UncurlWebSocket", "UncurlEngine", "UncurlClient", "URLLoading", "Uncurl",
           "UncurlExtras", "UncurlXML", "UncurlTestKit", "UncurlTestServer", "ScriptedPeer"]
# Modules of packages that come by traits, in a build that has them.
OF_TRAITS = ["HTTPTypes", "Logging", "CoreMetrics", "Metrics", "ServiceContextModule", "Instrumentation", "Tracing"]
# A load run takes seconds and links packages: these are compiled, and the load tester's own tests run.
COMPILED = ["Sources/UncurlLoad/", "Sources/UncurlLoadReports/", "Sources/UncurlLocust/", "Sources/volley/"]
# The URLs of the pages, and the servers that stand for them: properties of `given`.
SERVERS = [
    (re.compile(r'"https?://(?:api\.example\.com|localhost:[0-9]+)((?:/[^"]*)?)"'), "base"),
    # Over TLS, by the company's own authority.
    (re.compile(r'"https://company\.example\.com((?:/[^"]*)?)"'), "secureBase"),
    # It answers what a proxy is asked for, too.
    (re.compile(r'"http://(?:\w+:\w+@)?proxy\.example\.com:3128()"'), "base"),
    (re.compile(r'"(?:https?://httpbin\.org|wss?://api\.example\.com)((?:/[^"]*)?)"'), "routes"),
]
# Calls of blocks whose server has to answer in another way, and where their manager comes from.
MANAGERS = {
    "manager.events(": "try given.managerOfEvents()",
    "manager.webSocketTask(": "given.manager(of: given.routes)",
    "serializer: .xml": "given.manager(of: given.routes)",
    "policy.roots": "given.manager(of: given.secureBase)",
}


class Group:
    """Blocks that are compiled together."""

    def __init__(self, page, imports):
        self.page, self.imports, self.blocks = page, imports, []

    @property
    def is_manifest(self):
        return "import PackageDescription" in self.imports

    @property
    def is_run(self):
        return not any(self.page.startswith(folder) for folder in COMPILED)

    def function(self, name):
        imports = self.imports or ["import Uncurl" if self.is_run else "import UncurlLoad"]
        text = "\n".join(imports) + "\nfunc %s() async throws {\n" % name
        if self.is_run:
            text += ("let (manager, folder, photo, place, url) = "
                     "(given.manager(), given.folder, given.photo, given.place, given.url)\n")
        # Each in a scope of its own within the one before: names may be declared again.
        scopes = 1
        for line, block in self.blocks:
            text += "do {\n"
            scopes += 1
            special = next((manager for call, manager in MANAGERS.items() if call in block), None) if self.is_run else None
            if special:
                # The blocks behind it have the manager from before again.
                text += "let before%d = manager\ndo {\nlet manager = %s\n" % (line, special)
                scopes += 1
            for url, server in SERVERS if self.is_run else []:
                block = url.sub(r'(given.%s + "\1")' % server, block)
            text += '#sourceLocation(file: "%s", line: %d)\n%s\n#sourceLocation()\n' % (self.page, line, block)
            if special:
                text += "do {\nlet manager = before%d\n" % line
                scopes += 1
        return text + "}\n" * scopes


def groups(page, text):
    """The blocks of a page."""
    found, block, first = [], None, 0
    for number, line in enumerate(text.split("\n"), 1):
        if block is None:
            if line == "```swift":
                block, first = [], number + 1
        elif line.startswith("```"):
            imports = [line for line in block if line.startswith("import ")]
            if imports or not found:
                found.append(Group(page, imports))
            # A blank line in its place, so that the compiler's line numbers are the page's.
            kept = ["" if line.startswith("import ") else line for line in block]
            found[-1].blocks.append((first, "\n".join(kept)))
            block = None
        else:
            block.append(line)
    return found


def pages():
    """Every page of every catalogue, and those at the top."""
    found = [name for name in os.listdir(ROOT) if name.endswith(".md")]
    for folder, _, names in os.walk(os.path.join(ROOT, "Sources")):
        if ".docc" in folder:
            found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def places(built):
    """Where the compiler finds the modules, and the C that they import."""
    words = ["-I", built + "/Modules"]
    for map in glob.glob(ROOT + "/Sources/*/module.modulemap"):
        words += ["-I", os.path.dirname(map)]
    maps = ["%s/%s.build/module.modulemap" % (built, name) for name in ("CUncurlLinux", "CUncurlPublicSuffixes")]
    maps.append(ROOT + "/.build/checkouts/swift-numerics/Sources/_NumericsShims/include/module.modulemap")
    for place in maps:
        if os.path.exists(place):
            words += ["-Xcc", "-fmodule-map-file=" + place]
    return words


def objects(built):
    """By the names of the sources that there are: the folder may hold objects of others, from before."""
    found = ["CUncurlLinux.build/CUncurlLinux.c.o", "CUncurlPublicSuffixes.build/public_suffixes.c.o"]
    for module in MODULES:
        for _, _, names in os.walk("%s/%s/%s" % (ROOT, "Tests" if module == "ScriptedPeer" else "Sources", module)):
            found += ["%s.build/%s.o" % (module, name) for name in names if name.endswith(".swift")]
    for module in OF_TRAITS:
        found += sorted(glob.glob("%s.build/*.swift.o" % module, root_dir=built))
    return [built + "/" + name for name in found]


def write(folder, name, text):
    place = os.path.join(folder, name)
    with open(place, "w") as file:
        file.write(text)
    return place


def must(words, what, **options):
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if ended.returncode != 0:
        sys.exit("%s: %s" % (what, ended.stdout))


def check_manifest(group, folder):
    """A manifest is one that the package manager reads."""
    text = "\n".join(group.imports + [block for _, block in group.blocks])
    tools = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swiftc"))))
    must(["swiftc", "-typecheck", "-package-description-version", "6.3", "-I", tools + "/lib/swift/pm/ManifestAPI",
          write(folder, "Package.swift", text)], group.page)


def main():
    built = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="uncurl-articles-")
    compiler = ["swiftc", "-swift-version", "6", "-suppress-warnings"]
    counted = {"run": 0, "compiled": 0, "manifests": 0}
    try:
        run, compiled, calls = [os.path.join(ROOT, "Tests/docs/given.swift")], [], []
        for page in sys.argv[2:] or pages():
            with open(os.path.join(ROOT, page)) as file:
                text = file.read()
            for group in groups(page, text):
                name = "article%d" % (len(run) + len(compiled))
                if group.is_manifest:
                    check_manifest(group, folder)
                    counted["manifests"] += 1
                elif group.is_run:
                    run.append(write(folder, name + ".swift", group.function(name)))
                    calls.append('("%s", %s)' % (page, name))
                    counted["run"] += len(group.blocks)
                else:
                    compiled.append(write(folder, name + ".swift", group.function(name)))
                    counted["compiled"] += len(group.blocks)
        if compiled:
            must(compiler + ["-typecheck"] + compiled + places(built), "the load tester's pages")
        run.append(write(folder, "main.swift", MAIN.replace("CALLS", ", ".join(calls))))
        program = os.path.join(folder, "articles")
        must(compiler + ["-j2", "-o", program] + run + places(built) + objects(built) + ["-lssl", "-lcrypto", "-lz"],
             "the pages' blocks do not compile")
        # A background session keeps its journal there.
        must([program], "a page's blocks fail", env=dict(os.environ, XDG_STATE_HOME=folder + "/state"))
    finally:
        shutil.rmtree(folder)
    print("articles: %(run)d blocks run, %(compiled)d compiled, %(manifests)d manifests read" % counted)


MAIN = """
import Uncurl

let articles: [(String, () async throws -> Void)] = [CALLS]
var failures: [String] = []
for (name, article) in articles {
    do { try await article() } catch { failures.append("\\(name): \\(error)") }
    failures += given.failures.withLock { told in
        defer { told = [] }
        return told.map { "\\(name): \\($0)" }
    }
}
try? FileManager.default.removeItem(at: given.folder)
for failure in failures { print("failed:", failure) }
exit(failures.isEmpty ? 0 : 1)
"""

if __name__ == "__main__":
    main()
