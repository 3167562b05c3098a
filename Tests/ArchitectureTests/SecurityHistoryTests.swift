import Foundation
import TestSupport
import Testing

/// The page of others' faults, and the tests that it names.
@Suite("History of others' faults", .ownThread)
struct SecurityHistoryTests {
    private struct Row {
        let cells: [String]

        var name: String { cells.first ?? "" }
        /// The name without the bracket at its end, by which the list of guards calls the row.
        var shortName: String { name.replacing(/\ \([^)]*\)$/, with: "") }
        /// `*suite* “title”; *suite* “title”` in the last cell; none where it gives a reason.
        var tests: [(suite: String, title: String)] {
            (cells.last ?? "").matches(of: /\*([^*]+)\* “([^”]+)”/).map {
                (suite: String($0.output.1), title: String($0.output.2))
            }
        }
    }

    private static func rows(in page: String) -> [Row] {
        page.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| "), line.hasSuffix(" |"), !line.hasPrefix("| what |") else { return nil }
            return Row(cells: line.dropFirst(2).dropLast(2).components(separatedBy: " | "))
        }
    }

    /// The string literal that stands first behind each `mark`, its escapes undone.
    private static func literals(behind mark: String, in text: String) -> [String] {
        text.components(separatedBy: mark).dropFirst().compactMap { piece -> String? in
            let inner = piece.drop { $0.isWhitespace }
            guard inner.first == "\"" else { return nil }
            var literal = ""
            var isEscaped = false
            for character in inner.dropFirst() {
                if !isEscaped, character == "\"" { return literal }
                isEscaped = !isEscaped && character == "\\"
                if !isEscaped { literal.append(character) }
            }
            return nil
        }
    }

    /// The titles beside each suite, which goes by the name that it was given, or by its type's.
    private static func titles(in files: [SourceTree.File]) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for file in files {
            let titles = literals(behind: "@Test(", in: file.text)
            let types = file.text.matches(of: /@Suite(?:\([^"\n]*\))?\s+struct (\w+)/).map { String($0.output.1) }
            for suite in literals(behind: "@Suite(", in: file.text) + types {
                found[suite, default: []].formUnion(titles)
            }
        }
        return found
    }

    @Test("each suite and each title that the page names stands in the tests")
    func named() throws {
        let page = try String(contentsOf: SourceTree.root.appending(path: "Tests/security/HISTORY.md"), encoding: .utf8)
        let rows = Self.rows(in: page)
        let known = Self.titles(in: SourceTree.tests)
        #expect(rows.count >= 100)
        #expect(rows.filter { !$0.tests.isEmpty }.count >= 70)
        #expect(Set(rows.map(\.name)).count == rows.count)
        for row in rows {
            #expect(row.cells.count == 4, "\(row.name)")
            #expect(!row.tests.isEmpty || row.cells.last?.hasPrefix("none") == true, "\(row.name) gives no reason")
            for test in row.tests {
                let isThere = known[test.suite]?.contains(test.title) == true
                #expect(isThere, "\(row.name): \(test.suite), \(test.title)")
            }
        }
    }

    /// `tools/mutations --security` takes these guards out, one after the other, and runs the tests of their rows.
    @Test(
        "each row that names tests has a guard, whose text stands once in its file, so that the script can take it out"
    )
    func guards() throws {
        let text = { (path: String) in try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8) }
        let rows = Self.rows(in: try text("Tests/security/HISTORY.md"))
        var guarded: Set<String> = []
        for entry in try text("Tests/mutations/guards.txt").components(separatedBy: "\n===\n").dropFirst() {
            let lines = entry.components(separatedBy: "\n")
            let head = lines[0].components(separatedBy: " | ")
            let old = lines.dropFirst().prefix { $0 != "--->" }.joined(separator: "\n")
            #expect(try text(head[1]).components(separatedBy: old).count == 2, "\(head[0]): \(old)")
            guarded.formUnion(head[0].components(separatedBy: "; "))
        }
        let names = rows.map(\.shortName)
        #expect(Set(names).count == names.count)
        #expect(guarded.isSubset(of: rows.filter { !$0.tests.isEmpty }.map(\.shortName)))
        for row in rows where !row.tests.isEmpty && !guarded.contains(row.shortName) {
            #expect(Self.unguarded.contains(row.shortName), "\(row.name) has no guard")
        }
    }

    /// What OpenSSL guarantees, what all lines of a program keep to, and what fails in another way without its guard:
    /// there is no line to take out.
    private static let unguarded: Set = [
        "CVE-2022-41724", "CVE-2023-29409", "CVE-2024-4741", "CVE-2025-61730 (Go) and RUSTSEC-2026-0285",
        "CVE-2025-69229", "CVE-2026-54278", "CVE-2026-54280", "CVE-2026-84783",
    ]

    @Test("rows, suites with and without a name, and titles with quotes are read")
    func reading() {
        let page = "| what | test |\n|---|---|\n| a | b | c | *S* “one”; *T* “say \"two\"” |\n| d | e | f | none: g |"
        let rows = Self.rows(in: page)
        #expect(rows.map(\.name) == ["a", "d"])
        #expect(rows.map { $0.tests.map(\.suite) } == [["S", "T"], []])
        #expect(rows.first?.tests.last?.title == "say \"two\"")
        let text = "@Suite(\"S\") @Test(\n  \"one\", arguments: [1]) @Suite struct T { @Test(\"say \\\"two\\\"\") }"
        let file = SourceTree.File(path: "a.swift", text: text, code: "")
        let both: Set = ["one", "say \"two\""]
        #expect(Self.titles(in: [file]) == ["S": both, "T": both])
    }
}
