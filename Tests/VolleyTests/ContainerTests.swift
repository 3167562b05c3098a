import Foundation
import LoadTestSupport
import TestSupport
import Testing

/// The container images of this repository. No Docker engine runs here, so a linter checks them.
@Suite("Container images", .ownThread)
struct ContainerTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(
        "hadolint finds no fault in a Dockerfile",
        .enabled(if: Python.has("hadolint"), Comment(rawValue: Python.reason)),
        arguments: ["Sources/volley/Dockerfile", "Sources/Examples/Container/Dockerfile", ".devcontainer/Dockerfile"]
    )
    func lint(path: String) throws {
        let program = try #require(Python.path).dropLast("python".count) + "hadolint"
        let read = try EndedProgram(String(program), [Self.root.appending(path: path).path])
        #expect(read.status == 0, "\(read.out)")
    }

    @Test("volley's image has the libraries that volley loads, and no compiler")
    func libraries() throws {
        let text = try String(contentsOf: Self.root.appending(path: "Sources/volley/Dockerfile"), encoding: .utf8)
        let final = try #require(text.range(of: "\nFROM ", options: .backwards))
        for package in ["libssl3", "zlib1g", "ca-certificates"] { #expect(text[final.lowerBound...].contains(package)) }
        #expect(!text[final.upperBound...].hasPrefix("swift"))
    }
}
