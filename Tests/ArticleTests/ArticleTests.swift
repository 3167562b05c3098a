import Foundation
import TestSupport
import Testing

@Suite("Articles", .timeLimit(.minutes(5)))
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Every article of every catalogue, and the pages at the top.
    private static let documents: [String] = {
        let sources = FileManager.default.enumerator(atPath: root.path + "/Sources")?.allObjects as? [String] ?? []
        let top = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return (sources.filter { $0.contains(".docc/") }.map { "Sources/" + $0 } + top).filter { $0.hasSuffix(".md") }
            .sorted()
    }()

    private static func text(_ document: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(document), encoding: .utf8)
    }

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("uncurl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Objects of the address sanitizer's are linked with other flags.
    private static var isSanitized: Bool {
        ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains { ProcessInfo.processInfo.environment[$0] != nil }
    }

    @Test(
        "every block of code in an article, in README.md and in MIGRATION.md compiles as it stands there, and runs against a server of this machine",
        .disabled(if: isSanitized)
    )
    func compiledAndRun() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var program = try ArticleProgram(in: folder, of: Self.root)
        var count = 0
        for document in Self.documents where !Self.isLoadTesters(document) {
            for group in ArticleBlocks(of: document, try Self.text(document)).groups where !group.isManifest {
                try program.add(group)
                count += group.blocks.count
            }
        }
        #expect(count >= 20)
        let built = try program.build()
        try #require(built.status == 0, "\(built.err)")
        let ended = try program.run()
        #expect(ended.status == 0, "\(ended.out)\(ended.err)")
    }

    /// A load run takes seconds and links packages: its blocks are compiled, and the load tester's own tests run.
    private static func isLoadTesters(_ document: String) -> Bool {
        ["Sources/LoadGenerator/", "Sources/LoadReports/", "Sources/LocustWorker/", "Sources/volley/"]
            .contains { document.hasPrefix($0) }
    }

    @Test("every block of code in the load tester's articles compiles as it stands there")
    func compiled() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var count = 0
        for document in Self.documents where Self.isLoadTesters(document) {
            for group in ArticleBlocks(of: document, try Self.text(document)).groups {
                let checked = try ArticleProgram.check(group, in: folder, of: Self.root)
                #expect(checked.status == 0, "\(checked.err)")
                count += 1
            }
        }
        #expect(count >= 1)
    }

    @Test("every manifest in them is one that the package manager reads")
    func manifests() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var count = 0
        for document in Self.documents {
            for group in ArticleBlocks(of: document, try Self.text(document)).groups where group.isManifest {
                let file = folder.appendingPathComponent("Package.swift")
                let text = (group.imports + group.blocks.map(\.text)).joined(separator: "\n")
                try Data(text.utf8).write(to: file)
                let line = """
                    tools=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
                    swiftc -typecheck -package-description-version 6.2 -I "$tools/lib/swift/pm/ManifestAPI" \(file.path)
                    """
                let ended = try EndedProgram(shell: line)
                #expect(ended.status == 0, "\(document): \(ended.err)")
                count += 1
            }
        }
        #expect(count >= 1)
    }

    @Test("an error in a block, of the compiler or at run time, names the article and the line")
    func failing() throws {
        let text = "# A\n\n```swift\nlet a = 1\n```\n\n```swift\nlet b = a +\n    missing\n```\n"
        let groups = ArticleBlocks(of: "A.md", text).groups
        #expect(groups.count == 1 && groups[0].blocks.map(\.line) == [4, 8])
        #expect(
            groups[0].function("f").contains("#sourceLocation(file: \"A.md\", line: 8)\nlet b = a +\n    missing\n")
        )
        let two = ArticleBlocks(of: "B.md", "```swift\nimport Uncurl\nf()\n```\n```swift\nimport Reactor\ng()\n```\n")
            .groups
        #expect(two.map(\.imports) == [["import Uncurl"], ["import Reactor"]])
        #expect(two[1].blocks[0].text == "\ng()\n")
    }

    @Test("every article that another names exists")
    func links() throws {
        let files = Set(Self.documents.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent })
        #expect(files.count >= 9)
        for document in Self.documents {
            for name in try Self.text(document).components(separatedBy: "<doc:").dropFirst() {
                #expect(files.contains(String(name.prefix { $0 != ">" })), "\(document)")
            }
        }
    }
}
