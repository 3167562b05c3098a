import Foundation
import TestSupport
import Testing

/// SwiftPM refuses a package graph in which two packages have targets of one name.
@Suite("Names in a package graph", .ownThread, .timeLimit(.minutes(10)))
struct NameTests {
    /// Names that other packages have: what ours were called, and what else a program might call its own.
    private static let taken = [
        "CBrotli", "CLinux", "COpenSSL", "CPublicSuffixes", "CZlib", "CZstd", "Engine", "HTTP", "HTTP1", "HTTPEngine",
        "HTTPSemantics", "LoadGenerator", "LoadReports", "LocustWorker", "Reactor", "Semantics", "TLS", "TestServer",
        "TestSupport", "TextCoding", "Tour", "WebSocket",
    ]

    @Test(
        "a package with targets of names that others have may depend on every library of ours, and resolves no other",
        arguments: ["", ", traits: []"]
    )
    func dependant(traits: String) throws {
        let manifest = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        // Behind the targets stand products for our own commands alone.
        let products = manifest.prefix(upTo: try #require(manifest.range(of: "\n    targets:")).lowerBound)
        let libraries = products.matches(of: /\.library\(\s*name: "(\w+)"/).map { String($0.output.1) }
        #expect(libraries.count >= 9)
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        for target in Self.taken + ["All"] {
            let place = folder.appending(path: "Sources/\(target)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data("let own = 1\n".utf8).write(to: place.appending(path: "Own.swift"))
        }
        let dependencies = libraries.map { ".product(name: \"\($0)\", package: \"uncurl\")" }
        let text = """
            // swift-tools-version: 6.3
            import PackageDescription
            let package = Package(
                name: "dependant",
                dependencies: [.package(name: "uncurl", path: "\(SourceTree.root.path)"\(traits))],
                targets: \(Self.taken).map { .target(name: $0) }
                    + [.target(name: "All", dependencies: [\(dependencies.joined(separator: ", "))])]
            )
            """
        try Data(text.utf8).write(to: folder.appending(path: "Package.swift"))
        // It reads the whole graph, and compiles one target of the dependant's.
        let words = ["swift", "build", "--package-path", folder.path, "--target", "TLS"]
        let ended = try EndedProgram("/usr/bin/env", words)
        #expect(ended.status == 0, "\(ended.out)\(ended.err)")
        let resolved = try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/.build/checkouts")
        #expect(resolved ?? [] == [])
    }
}
