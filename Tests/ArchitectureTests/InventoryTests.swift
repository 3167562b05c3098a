import Foundation
import TestSupport
import Testing

/// The feature inventory in Uncurl's documentation, and the tests that prove its rows.
@Suite("Inventory", .ownThread)
struct InventoryTests {
    private struct Row {
        let id: String
        let cells: [String]

        /// A row that does not exist here says so, with the reason.
        var isNone: Bool { cells.last?.hasPrefix("None: ") ?? false }
    }

    private static let rows: [Row] = SourceTree.files(in: "Sources/Uncurl/Uncurl.docc/Inventory") {
        $0.hasSuffix(".md")
    }
    .flatMap { Self.rows(in: $0.text) }

    private static func rows(in page: String) -> [Row] {
        page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| "), line.hasSuffix(" |") else { return nil }
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard let id = cells.first, id.wholeMatch(of: /[A-Z][0-9]+/) != nil else { return nil }
            return Row(id: id, cells: Array(cells.dropFirst()))
        }
    }

    /// The ids in the traits of tests: `.rows("B2", "U4")`. Comments and disabled tests prove nothing.
    private static func proven(by text: String) -> Set<String> {
        var found: Set<String> = []
        for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
            for trait in line.matches(of: /\.rows\(([^)]*)\)/) {
                found.formUnion(trait.1.matches(of: /"([A-Z][0-9]+)"/).map { String($0.1) })
            }
        }
        return found
    }

    private static let proven = SourceTree.tests.filter { $0.name != "InventoryTests.swift" }
        .reduce(into: Set<String>()) { $0.formUnion(Self.proven(by: $1.text)) }

    @Test("each row of the inventory has a test, or says why it does not exist here")
    func eachIsProven() {
        for row in Self.rows where !row.isNone && !row.id.hasPrefix("W") {
            #expect(Self.proven.contains(row.id), "\(row.id): \(row.cells.first ?? "")")
        }
    }

    @Test("a wish of users names rows that have a test, or says where it is proven")
    func wishes() {
        for row in Self.rows where row.id.hasPrefix("W") && !row.isNone {
            let named = (row.cells.last ?? "").components(separatedBy: ", ")
            #expect(Self.proven.isSuperset(of: named), "\(row.id): \(named)")
        }
    }

    /// `tools/mutations` changes these texts of the sources, one after the other, and runs the tests of their rows.
    @Test("each mutant and each place of a mutation stands in its file, so that the script can break it")
    func mutations() throws {
        let folder = SourceTree.root.appending(path: "Tests/mutations")
        let text = { (path: String) in try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8) }
        let mutants = try String(contentsOf: folder.appending(path: "mutations.txt"), encoding: .utf8)
            .components(separatedBy: "\n===\n").dropFirst()
        for mutant in mutants {
            let lines = mutant.components(separatedBy: "\n")
            let head = lines[0].components(separatedBy: " | ")
            let old = lines.dropFirst().prefix { $0 != "--->" }.joined(separator: "\n")
            #expect(try text(head[1]).components(separatedBy: old).count == 2, "\(head[0]): \(old)")
        }
        let places = try String(contentsOf: folder.appending(path: "found.txt"), encoding: .utf8)
            .split(separator: "\n").map { $0.split(separator: " | ", maxSplits: 3).map(String.init) }
        for place in places {
            #expect(try text(place[2]).contains(place[3]), "\(place[0]): \(place[3])")
        }
        #expect(mutants.count > 50 && places.count > 100)
    }

    @Test("ids are counted without gaps, and no test names a row that no page has")
    func ids() {
        let ids = Self.rows.map(\.id)
        #expect(ids.count >= 235 && Set(ids).count == ids.count)
        for (letter, all) in Dictionary(grouping: ids, by: { $0.prefix(1) }) {
            #expect(Set(all) == Set((1...all.count).map { "\(letter)\($0)" }), "\(letter)")
        }
        #expect(Self.proven.isSubset(of: ids), "\(Self.proven.subtracting(ids))")
    }

    @Test("traits and table rows are read; comments, headings and rules of tables are not")
    func reading() {
        let page = "| row | there |\n|---|---|\n| A1 | one | two |\n| A2 | x | None: no. |\ntext A3"
        #expect(Self.rows(in: page).map(\.id) == ["A1", "A2"])
        #expect(Self.rows(in: page).map(\.isNone) == [false, true])
        #expect(Self.proven(by: "@Test(\"A9\", .rows(\"A1\", \"B2\"))\n  // .rows(\"C3\")") == ["A1", "B2"])
    }

    @Test("no title of a test bears an id: rows stand in its trait")
    func titles() {
        for file in SourceTree.tests where file.path.hasPrefix("Tests/Uncurl") {
            for title in file.text.matches(of: /@Test\(\s*"([^"]*)"/) {
                #expect(title.1.prefixMatch(of: /[A-Z][0-9]{1,2}\b/) == nil, "\(file): \(title.1)")
            }
        }
    }
}
