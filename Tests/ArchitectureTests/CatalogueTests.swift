import Foundation
import TestSupport
import Testing

/// The documentation catalogues: what each must have, as far as its text shows it. `./dev docs` builds them and looks at
/// the site.
@Suite("Catalogues", .ownThread)
struct CatalogueTests {
    /// The library products, which the package's manifest names.
    static let products: [String] = [
        "UncurlHTTP1", "UncurlSemantics", "UncurlReactor", "UncurlTLS", "UncurlWebSocket", "UncurlEngine", "URLLoading",
        "Uncurl", "UncurlExtras",
        "UncurlXML", "UncurlTestKit", "UncurlTestServer", "UncurlLoad", "UncurlLoadReports",
    ]

    /// Without a page: what belongs to package traits, which the site is built without.
    private static let pageless: Set<String> = ["LoggingMonitor", "MetricsMonitor", "TracingInterceptor"]

    private static func pages(of product: String) -> [SourceTree.File] {
        SourceTree.files(in: "Sources/\(product)") { $0.contains(".docc/") && $0.hasSuffix(".md") }
    }

    @Test("each module of the manifest's products has a catalogue, with a landing page and a program")
    func landingPages() throws {
        let manifest = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        // But for those that `tools/dropin` and `./dev fuzz` alone have.
        let named = manifest.matches(of: /\.library\(\s*name: "(\w+)",\s*targets: \[([^\]]*)\]/)
            .filter { !["UncurlDropIn", "InnerRooms"].contains($0.output.1) }
            .flatMap { $0.output.2.matches(of: /"(\w+)"/).map { String($0.output.1) } }
        #expect(Set(named) == Set(Self.products))
        for product in Self.products {
            let pages = Self.pages(of: product)
            #expect(pages.contains { $0.name == "\(product).md" }, "\(product)")
            #expect(pages.contains { $0.text.contains("```swift\n") }, "\(product)")
        }
    }

    @Test(
        "each public type and function at the top of a module stands in a topic of its landing page",
        arguments: products
    )
    func topics(product: String) throws {
        let page = try #require(Self.pages(of: product).first { $0.name == "\(product).md" })
        let topics = try #require(page.text.range(of: "\n## Topics\n"))
        let listed = Set(page.text[topics.upperBound...].matches(of: /- ``([^`]+)``/).map { String($0.output.1) })
        let names = PublicDeclarations.ofSources.all.filter {
            $0.scope.isEmpty && $0.file.hasPrefix("Sources/\(product)/")
        }
        for declaration in names where !Self.pageless.contains(declaration.name) {
            #expect(listed.contains(declaration.name), "\(declaration) is in no topic of \(page)")
        }
    }

    @Test("each question of a newcomer's leads to a place that answers it with code")
    func questions() throws {
        let pages = Self.pages(of: "Uncurl")
        let page = try #require(pages.first { $0.name == "Questions.md" })
        let questions = page.text.split(separator: "\n").filter { $0.contains(/^[0-9]+\. How do I\b/) }
        #expect(questions.count == 10)
        for question in questions {
            let link = try #require(question.firstMatch(of: /\]\((\w+\.md)#([^)]+)\)/), "\(question)")
            let (article, heading) = (link.output.1, link.output.2)
            let target = try #require(pages.first { $0.name == article }, "\(question)")
            // What stands between that heading and the next.
            let sections = target.text.replacing("\n## ", with: "\u{0}## ").split(separator: "\u{0}")
            let section = try #require(
                sections.first { PageTests.anchor(of: $0.prefix { !$0.isNewline }) == heading },
                "\(question)"
            )
            #expect(section.contains("```swift\n"), "\(question)")
        }
    }

    @Test("the ten commonest tasks take the symbols that a page lists for newcomers, and fifteen at most")
    func symbols() throws {
        func sections(_ name: String) throws -> [String] {
            let page = try #require(Self.pages(of: "Uncurl").first { $0.name == name })
            return page.text.replacing("\n## ", with: "\u{0}## ").split(separator: "\u{0}").map(String.init)
        }
        let list = try #require(try sections("WhichDoor.md").first { $0.hasPrefix("## The symbols a newcomer needs") })
        let listed = Set(list.matches(of: /`(\w+)`/).map { String($0.output.1) })
        #expect(listed.count <= 15)
        #expect(list.contains(listed.count == 15 ? " fifteen symbols" : " \(listed.count) symbols"))
        let tasks = try sections("CommonTasks.md").dropFirst().prefix(10).joined()
        let code = tasks.matches(of: /```swift\n([^`]+)```/).map { String($0.output.1) }.joined()
        let declarations = PublicDeclarations.ofSources.all.filter { $0.file.hasPrefix("Sources/Uncurl/") }
        let known = Set(declarations.map { String($0.name.prefix { $0 != "(" }) })
        let used = code.matches(of: /\.(\w+)|\b([A-Z]\w+)/).map { String($0.output.1 ?? $0.output.2 ?? "") }
        // Code that uses a manager has made one.
        #expect(Set(used).intersection(known).union(["HTTPSessionManager"]) == listed)
    }

    @Test("of ten calls beside four other libraries, ours is never the longest")
    func calls() throws {
        let page = try #require(Self.pages(of: "Uncurl").first { $0.name == "TenCalls.md" })
        let sections = page.text.split(separator: "\n## ").dropFirst(2)
        #expect(sections.count == 10)
        for section in sections {
            let rows = section.matches(of: /\n\| (\w+) \| `(.+)` \|/)
            let lengths = Dictionary(uniqueKeysWithValues: rows.map { ($0.output.1, $0.output.2.count) })
            #expect(lengths.count == 5)
            let own = try #require(lengths["Uncurl"])
            #expect(lengths.values.contains { $0 > own }, "\(section.prefix { !$0.isNewline })")
        }
    }
}
