import Foundation
import TestSupport
import Testing

/// The tables of names in the pages for readers of AFNetworking and of Alamofire, against the code.
@Suite("Tables of names", .ownThread)
struct NameTableTests {
    private struct Row {
        /// The names of the other library.
        let there: [String]
        /// Ours, as paths: `RequestOptions/credential`.
        let here: [String]
    }

    private static let pages = ["ComingFromAFNetworking.md", "ComingFromAlamofire.md"]
    /// The modules whose names stand in the tables.
    private static let rooms = ["Uncurl", "UncurlExtras", "UncurlXML"]
    private static let catalogue = SourceTree.files(in: "Sources/Uncurl/Uncurl.docc") { $0.hasSuffix(".md") }

    private static let declarations = PublicDeclarations.ofSources.all.filter { declaration in
        rooms.contains { declaration.file.hasPrefix("Sources/\($0)/") }
    }

    /// What each cell of a row has in backticks. A link has two on each side, and slashes in place of dots.
    private static func names(in cell: Substring) -> [String] {
        cell.matches(of: /`+([^`]+)`+/).map { match in
            let name = match.output.1
            let words = name.prefix { $0 != "(" }
            return String(words.replacing(".", with: "/")) + name[words.endIndex...]
        }
    }

    private static func rows(in page: String) -> [Row] {
        page.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            let cells = line.split(separator: "|")
            return Row(there: names(in: cells[0]), here: cells.count > 1 ? names(in: cells[1]) : [])
        }
    }

    private static func rows(of page: String) throws -> [Row] {
        rows(in: try #require(catalogue.first { $0.name == page }).text)
    }

    /// The types at the top of this module that the inventory names as what does there is here.
    private static func counterparts(in page: String) -> Set<String> {
        let rows = page.split(separator: "\n").filter { $0.contains(/^\| [A-Z][0-9]+ \|/) }
        let cells = rows.compactMap { $0.components(separatedBy: " | ").last }.filter { !$0.hasPrefix("None: ") }
        return Set(cells.flatMap { $0.matches(of: /``(\w+)/).map { String($0.output.1) } })
    }

    @Test("each name of ours in a table for readers of another library is a public declaration", arguments: pages)
    func declared(page: String) throws {
        let declared = Set(Self.declarations.map { ($0.scope + [$0.name]).joined(separator: "/") })
        let cases = Set(Self.declarations.filter(\.isCase).map { ($0.scope + [$0.name]).joined(separator: "/") })
        for row in try Self.rows(of: page) {
            #expect(!row.here.isEmpty, "\(row.there) has no name of ours")
            for name in row.here {
                // A case is declared without the labels of its values, which a link has.
                let isThere = declared.contains(name) || cases.contains(String(name.prefix { $0 != "(" }))
                #expect(isThere, "\(row.there): \(name)")
            }
        }
    }

    @Test("each public type that the inventory names as a counterpart of theirs stands in a table")
    func complete() throws {
        let named = try Self.pages.flatMap { try Self.rows(of: $0) }.flatMap(\.here)
        let listed = Set(named.compactMap { $0.split(separator: "/").first.map(String.init) })
        let inventory = Self.catalogue.filter { page in
            page.path.contains("/Inventory/") && !["InventoryDefects.md", "InventoryWants.md"].contains(page.name)
        }
        let wanted = inventory.reduce(into: Set<String>()) { $0.formUnion(Self.counterparts(in: $1.text)) }
        #expect(wanted.count >= 40)
        #expect(wanted.subtracting(listed).sorted() == [])
    }

    @Test("a table has forty names of the other library at least, and each once", arguments: pages)
    func once(page: String) throws {
        let names = try Self.rows(of: page).flatMap(\.there)
        #expect(names.count >= 40)
        #expect(Set(names).count == names.count)
    }

    @Test(
        "names are read from links and from code, with and without arguments; a row of the inventory by its last cell"
    )
    func reading() {
        let page =
            "| there | here | how |\n|---|---|---|\n| `a:b:` | ``C/d(_:)``, `E.f(g:)` | `h` |\n| `i` | ``J`` | |\n"
        let rows = Self.rows(in: page)
        #expect(rows.map(\.there) == [["a:b:"], ["i"]])
        #expect(rows.map(\.here) == [["C/d(_:)", "E/f(g:)"], ["J"]])
        let inventory = "| A1 | ``K`` | ``L/m`` and `N` |\n| A2 | o | None: ``P`` |\ntext ``Q``"
        #expect(Self.counterparts(in: inventory) == ["L"])
    }
}
