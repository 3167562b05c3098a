import Foundation
import TestSupport
import Testing

/// One constant is the version; whatever names it elsewhere says the same.
@Suite("Version", .ownThread)
struct VersionTests {
    private static let file = "Sources/UncurlHTTP1/Messages/PackageVersion.swift"

    static func version() throws -> String {
        let source = try #require(SourceTree.sources.first { $0.path == file })
        return String(try #require(source.text.firstMatch(of: /text = "(\d+\.\d+\.\d+)"/)).1)
    }

    @Test("no other source spells the version out")
    func once() throws {
        let literal = "\"\(try Self.version())\""
        let others = SourceTree.sources.filter { $0.path != Self.file && $0.text.contains(literal) }
        #expect(others.isEmpty)
    }

    @Test(
        "a page that names the version of Uncurl or of volley names this one",
        arguments: ["README.md", "CHANGELOG.md", "MIGRATION.md", "Sources/volley/README.md"]
    )
    func pages(path: String) throws {
        let text = try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
        let version = try Self.version()
        // "Version 0.1.0", "volley 0.1.0", "until 0.1.0", "from: "0.1.0"" after this package's address.
        let named = text.matches(of: /(?:[Vv]ersion|volley|until|uncurl", from:) "?(\d+\.\d+\.\d+)/).map {
            String($0.1)
        }
        #expect(named.allSatisfy { $0 == version }, "\(path): \(named)")
        #expect(!named.isEmpty || path == "MIGRATION.md")
    }
}
