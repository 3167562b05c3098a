import Foundation
import TestSupport
import Testing

/// The pages that a newcomer reads: their lengths, and that each link leads somewhere.
@Suite("Pages", .ownThread)
struct PageTests {
    /// Every page of the repository: those at its top, and those in its folders.
    private static let pages: [SourceTree.File] = {
        let top = (try? FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)) ?? []
        let named = top.filter { $0.hasSuffix(".md") }.sorted().compactMap { name -> SourceTree.File? in
            let text = try? String(contentsOf: SourceTree.root.appending(path: name), encoding: .utf8)
            return text.map { SourceTree.File(path: name, text: $0, code: "") }
        }
        return named
            + ["Sources", "Tests", "Benchmarks", "Fuzz"].flatMap { folder in
                SourceTree.files(in: folder) { $0.hasSuffix(".md") }
            }
    }()

    private static func links(of page: SourceTree.File) -> [(path: String, anchor: String?)] {
        page.text.matches(of: /\]\(([^)\s]+)\)/).compactMap { match in
            let target = String(match.output.1)
            guard !target.contains("://"), !target.hasPrefix("mailto:") else { return nil }
            let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
        }
    }

    /// As GitHub makes it of a heading.
    static func anchor(of heading: Substring) -> String {
        heading.drop { $0 == "#" || $0 == " " }.lowercased()
            .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
            .replacing(" ", with: "-")
    }

    @Test("each link of a page leads to a file of this repository, and its anchor to a heading")
    func links() throws {
        #expect(Self.pages.count > 10)
        for page in Self.pages {
            let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
            for (path, anchor) in Self.links(of: page) {
                let parts = ("\(path.isEmpty ? page.path : folder + "/" + path)").split(separator: "/")
                let place = parts.reduce(into: [Substring]()) { place, part in
                    if part == ".." { place.removeLast() } else if part != "." { place.append(part) }
                }.joined(separator: "/")
                guard SourceTree.exists(place) else {
                    Issue.record("\(page) links to \(place), which is not there")
                    continue
                }
                guard let anchor, let target = Self.pages.first(where: { $0.path == place }) else { continue }
                let anchors = target.text.split(separator: "\n").filter { $0.hasPrefix("#") }.map(Self.anchor)
                #expect(anchors.contains(anchor), "\(page) links to \(place)#\(anchor)")
            }
        }
    }

    @Test("pages, workflows and containers name the Swift of the manifest")
    func swiftVersion() throws {
        let manifest = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        let needed = try #require(manifest.firstMatch(of: /swift-tools-version: ([\d.]+)/)).output.1
        let others = [".github/workflows", "Sources/Examples"].flatMap { folder in
            SourceTree.files(in: folder) { $0.hasSuffix(".yml") || $0.hasSuffix("Dockerfile") }
        }
        #expect(others.count > 3)
        var count = 0
        for page in Self.pages + others {
            let versions = /(?:swift-tools-version: |Swift |swift:)(\d+\.\d+)(?:-bookworm| or later|\n)/
            for match in page.text.matches(of: versions) {
                count += 1
                #expect(match.output.1 == needed, "\(page) says \(match.output.0)")
            }
        }
        #expect(count > 10)
    }

    @Test("no page has a link that docc alone follows, since a code host shows it as text")
    func linksOfDocc() {
        for page in Self.pages {
            #expect(page.text.firstMatch(of: /<doc:[^>]*>|\]\(doc:/) == nil, "\(page)")
        }
    }

    @Test("each page that shows the dependency has the address of .release/address, and this version")
    func dependency() throws {
        let address = try String(contentsOf: SourceTree.root.appending(path: ".release/address"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let shown = Self.pages.flatMap { page in
            page.text.matches(of: /\.package\(url: "[^"]*uncurl[^)]*\)/).map { (page, String($0.output)) }
        }
        #expect(Set(shown.map(\.0.path)).count >= 4)
        for (page, text) in shown {
            let wanted = ".package(url: \"\(address)\", from: \"\(try VersionTests.version())\""
            #expect(text.hasPrefix(wanted), "\(page): \(text)")
        }
    }

    /// Of MIGRATION.md, what stands before its first table.
    @Test(
        "the first pages are short",
        arguments: [("README.md", 100), ("ARCHITECTURE.md", 200), ("CHANGELOG.md", 60), ("MIGRATION.md", 40)]
    )
    func lengths(path: String, limit: Int) throws {
        let page = try #require(Self.pages.first { $0.path == path })
        let first =
            path == "MIGRATION.md"
            ? page.text.prefix(upTo: try #require(page.text.firstRange(of: "\n|")).lowerBound) : page.text[...]
        #expect(first.split(separator: "\n", omittingEmptySubsequences: false).count - 1 <= limit)
    }
}
