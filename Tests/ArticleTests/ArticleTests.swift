import Foundation
import TestSupport
import Testing

/// The programs in the documentation's pages, by the tool that `./dev docs` checks them with, against the libraries that
/// the tests themselves were built with.
@Suite("Articles", .ownThread, .timeLimit(.minutes(5)))
struct ArticleTests {
    private static let tool = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs/articles.py").path

    /// Objects of the address sanitizer's are linked with other flags.
    private static var isSanitized: Bool {
        ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains { ProcessInfo.processInfo.environment[$0] != nil }
    }

    private func check(_ pages: [String] = []) throws -> EndedProgram {
        try EndedProgram(
            "/usr/bin/env",
            ["python3", Self.tool, URL(fileURLWithPath: EndedProgram.built("")).path] + pages
        )
    }

    private func check(_ text: String) throws -> EndedProgram {
        let page = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID().uuidString).md")
        try Data(text.utf8).write(to: page)
        defer { try? FileManager.default.removeItem(at: page) }
        return try check([page.path])
    }

    @Test(
        "every block of code in a page compiles as it stands there, and runs against a server of this machine",
        .disabled(if: isSanitized)
    )
    func compiledAndRun() throws {
        let ended = try check()
        try #require(ended.status == 0, "\(ended.err)")
        let counts = ended.out.split { !$0.isNumber }.compactMap { Int($0) }
        #expect(counts.count == 3 && counts[0] >= 40 && counts[1] >= 2 && counts[2] >= 2, "\(ended.out)")
    }

    @Test(
        "an error in a block, of the compiler, at run time or of a manifest, names the page",
        .disabled(if: isSanitized)
    )
    func failing() throws {
        let refused = try check("# A\n\n```swift\nlet a = 1\n```\n\n```swift\nlet b = a +\n    missing\n```\n")
        #expect(refused.status == 1)
        #expect(refused.err.contains(/page-[-0-9A-F]+\.md:9:5: error: cannot find 'missing'/), "\(refused.err)")
        let failed = try check("```swift\nimport Uncurl\nthrow URLError(.timedOut)\n```\n")
        #expect(failed.status == 1 && failed.err.contains(/failed: .*page-[-0-9A-F]+\.md/), "\(failed.err)")
        let manifest = try check("```swift\nimport PackageDescription\nlet package = Package(nam: \"App\")\n```\n")
        #expect(manifest.status == 1 && manifest.err.contains("page-"), "\(manifest.err)")
    }
}
