#!/usr/bin/env python3
"""A graph of three packages that know FoundationNetworking alone, built, tested and run with `uncurl`: clean and again, debug, release and static;
and the mistakes that a user can make on the way.
tools/dropin test. UNCURL_PREFIX: where `tools/dropin` has installed."""
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

PREFIX = pathlib.Path(os.environ["UNCURL_PREFIX"])
UNCURL = PREFIX / "bin/uncurl"
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription

let package = Package(name: "{name}", products: [{products}], dependencies: [{dependencies}], targets: [{targets}])
"""

# As programs on Linux have written it for years.
OLD = """import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

public func load(_ url: URL, _ done: @escaping @Sendable (String) -> Void) {
    URLSession.shared.dataTask(with: URLRequest(url: url)) { data, response, error in
        done("\\((response as? HTTPURLResponse)?.statusCode ?? 0) \\(String(decoding: data ?? Data(), as: UTF8.self)) \\(error.map { "\\($0)" } ?? "")")
    }.resume()
}
"""
# A scoped import, an exhaustive switch, a subclass and a delegate.
PLAIN = """import Foundation
import class FoundationNetworking.URLSession
import FoundationNetworking

public final class Mock: URLProtocol {
    public override class func canInit(with request: FoundationNetworking.URLRequest) -> Bool { request.url?.scheme == "mock" }
    public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    public override func startLoading() {
        let response = HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil)!
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("mocked".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
    public override func stopLoading() {}
}

public final class Watcher: NSObject, URLSessionDataDelegate {}

public func name(_ state: URLSessionTask.State) -> String {
    switch state {
    case .running: "running"
    case .suspended: "suspended"
    case .canceling: "canceling"
    case .completed: "completed"
    }
}

public func get(_ url: URL, mocked: Bool = false) async throws -> String {
    let configuration = URLSessionConfiguration.ephemeral
    if mocked { configuration.protocolClasses = [Mock.self] }
    let session = URLSession(configuration: configuration, delegate: Watcher(), delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    let (data, _) = try await session.data(from: url)
    return String(decoding: data, as: UTF8.self)
}
"""
APP = """import Foundation
import FoundationNetworking
import Old
import Plain

@main
enum App {
    static func main() async throws {
        let url = URL(string: CommandLine.arguments[1])!
        print(String(reflecting: URLSession.self), name(.running), VERSION)
        print(try await get(url))
        print(try await get(URL(string: "mock://anything")!, mocked: true))
        print(await withCheckedContinuation { done in load(url) { done.resume(returning: $0) } })
        print(try String(contentsOf: url, encoding: .utf8), NSData(contentsOf: url)?.length ?? -1)
    }
}
let VERSION = "first"
"""
TESTS = """import Foundation
import FoundationNetworking
import Plain
import Testing
import XCTest

@Test func mocked() async throws {
    #expect(try await get(URL(string: "mock://anything")!, mocked: true) == "mocked")
    #expect(String(reflecting: URLSession.self) == "URLLoading.URLSession")
}

final class OldTests: XCTestCase {
    func testState() { XCTAssertEqual(Plain.name(.completed), "completed") }
}
"""
OUTPUT = """URLLoading.URLSession running {version}
content
mocked
200 content{space}
content 7
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def graph(folder):
    """App depends on Old and Plain; each is a package of its own."""
    for name, source in (("Old", OLD), ("Plain", PLAIN)):
        write(folder / name / "Package.swift", MANIFEST.format(
            name=name, products=f'.library(name: "{name}", targets: ["{name}"])', dependencies="", targets=f'.target(name: "{name}")'))
        write(folder / name / f"Sources/{name}/{name}.swift", source)
    app = folder / "App"
    used = '[.product(name: "Old", package: "Old"), .product(name: "Plain", package: "Plain")]'
    write(app / "Package.swift", MANIFEST.format(
        name="App", products="", dependencies='.package(path: "../Old"), .package(path: "../Plain")',
        targets=f'.executableTarget(name: "App", dependencies: {used}), .testTarget(name: "AppTests", dependencies: {used})'))
    write(app / "Sources/App/App.swift", APP)
    write(app / "Tests/AppTests/AppTests.swift", TESTS)
    return app


def run(*command, folder, status=0):
    ended = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=900)
    if (ended.returncode == 0) != (status == 0):
        sys.exit(f"dropin: {' '.join(map(str, command))} ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
    return ended.stdout, ended.stderr


def expect(what, is_so, *facts):
    if not is_so:
        sys.exit(f"dropin: failed: {what}\n" + "\n".join(map(str, facts)))
    print(f"dropin: {what}", flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"content")

    def log_message(self, *_):
        pass


def replaced(app, path, url):
    """An installation in another folder, as `tools/dropin` makes one of other content, in the place of the one that the app was built with."""
    (lib,) = (PREFIX / "lib").iterdir()
    other = lib.with_name("another")
    toolsets = [PREFIX / "shared.json", PREFIX / "static.json"]

    def move(one, two):
        one.rename(two)
        for toolset in toolsets:
            toolset.write_text(toolset.read_text().replace(one.name, two.name))

    move(lib, other)
    try:
        run(UNCURL, "build", folder=app)
        said = run(path, url, folder=app)[0]
        expect("an installation that was replaced is the one that the next build uses", said.startswith("URLLoading.URLSession"), said)
        other.rename(lib)
        said = "".join(run(UNCURL, "build", folder=app, status=1))
        expect("an installation that is not in its place is refused with a way out", "run tools/dropin" in said, said)
        lib.rename(other)
    finally:
        move(other, lib)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory() as folder:
        app = graph(pathlib.Path(folder))
        source = app / "Sources/App/App.swift"
        for kind, options in (("debug", []), ("release", ["-c", "release"]), ("static", ["-c", "release", "--static-swift-stdlib"])):
            scratch = ["--scratch-path", f".build-{kind}"] if kind == "static" else []
            for version in ("first", "second"):
                source.write_text(APP.replace('"first"', f'"{version}"'))
                run(UNCURL, "build", *scratch, *options, folder=app)
                path = pathlib.Path(run("swift", "build", *scratch, *options, "--show-bin-path", folder=app)[0].strip()) / "App"
                said = run(path, url, folder=app)[0]
                expect(f"{kind}, {version} build: the program runs on URLLoading", said == OUTPUT.format(version=version, space=" "), said)
            loaded = run("ldd", path, folder=app)[0]
            expect(f"{kind}: it loads neither curl nor FoundationNetworking", "libcurl" not in loaded and "FoundationNetworking" not in loaded, loaded)
        said = "".join(run(UNCURL, "test", folder=app))
        expect("test: XCTest and Swift Testing pass", "1 test" in said and "passed" in said, said)
        said = "".join(run(UNCURL, "run", "App", url, folder=app))
        expect("run: the program's output", "content" in said, said)
        said = "".join(run(UNCURL, "check", path, folder=app))
        expect("check: a good binary", "neither FoundationNetworking nor curl" in said, said)

        stranger = pathlib.Path(folder, "stranger.swift")
        stranger.write_text("import Foundation\nimport FoundationNetworking\nprint(URLSession.shared)\n")
        run("swiftc", stranger, "-o", "stranger", folder=folder)
        said = "".join(run(UNCURL, "check", "stranger", folder=folder, status=1))
        expect("check: a program on the toolchain's module", "libFoundationNetworking" in said, said)

        # `uncurl build` after `swift build`, in one folder.
        late = graph(pathlib.Path(folder, "late"))
        run("swift", "build", folder=late)
        run(UNCURL, "build", folder=late)
        path = pathlib.Path(run("swift", "build", "--show-bin-path", folder=late)[0].strip()) / "App"
        said = run(path, url, folder=late)[0]
        expect("a package that was built with swift before is built anew", said == OUTPUT.format(version="first", space=" "), said)

        replaced(late, path, url)

        both = pathlib.Path(folder, "Both")
        write(both / "Package.swift", MANIFEST.format(
            name="Both", products="", dependencies=f'.package(name: "uncurl", path: "{REPOSITORY}")',
            targets='.executableTarget(name: "Both", dependencies: [.product(name: "URLLoading", package: "uncurl")])'))
        write(both / "Sources/Both/main.swift", "import URLLoading\n")
        for place, options in ((both, []), (folder, ["--package-path", "Both"]), (folder, ["--package-path=Both"])):
            said = "".join(run(UNCURL, "build", *options, folder=place, status=1))
            expect(f"the package uncurl in the graph is refused with a way out {options}", "two engines" in said, said)

        compiler = (PREFIX / "compiler").read_text()
        try:
            (PREFIX / "compiler").write_text("Swift version 1.0\n")
            said = "".join(run(UNCURL, "build", folder=app, status=1))
            expect("another compiler is refused with a way out", "run tools/dropin" in said, said)
        finally:
            (PREFIX / "compiler").write_text(compiler)


main()
