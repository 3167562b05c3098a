import Foundation
import Testing

@Suite("Articles")
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let articles = ["Sources/Uncurl/Uncurl.docc"].flatMap { folder in
        (try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path))?
            .filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" } ?? []
    }

    /// Lines without their indentation.
    private func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("the code of every article is compiled: it stands in ArticleCode, line by line", arguments: articles)
    func compiled(article: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(article), encoding: .utf8)
        let code = lines(
            try String(
                contentsOf: Self.root.appendingPathComponent("Tests/UncurlTests/Documentation/ArticleCode.swift"),
                encoding: .utf8
            )
        )
        for block in text.components(separatedBy: "```swift\n").dropFirst() {
            let wanted = lines(block.components(separatedBy: "```")[0])
            let isThere = code.indices.contains { code[$0...].starts(with: wanted) }
            #expect(isThere, "\(article): \(wanted.first ?? "")")
        }
    }

    @Test("there are articles, and every one that another names exists")
    func links() throws {
        #expect(Self.articles.count >= 9)
        let folder = Self.root.appendingPathComponent("Sources/Uncurl/Uncurl.docc")
        let files = Set(
            (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []).map {
                URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent
            }
        )
        for article in Self.articles {
            let text = try String(contentsOf: Self.root.appendingPathComponent(article), encoding: .utf8)
            for name in text.components(separatedBy: "<doc:").dropFirst() {
                #expect(files.contains(String(name.prefix { $0 != ">" })), "\(article)")
            }
        }
    }
}
