import Foundation
import Testing

/// LIMITS.md against the sources.
@Suite("The list of limits")
struct LimitListTests {
    private static let rooms: Set = [
        "UncurlHTTP1", "UncurlEngine", "UncurlSemantics", "UncurlClient", "URLLoading", "Uncurl", "UncurlExtras",
        "UncurlXML",
        "UncurlTestKit",
        "UncurlWebSocket", "UncurlTLS", "UncurlReactor", "UncurlText",
    ]

    private static let files = SourceTree.sources.filter { rooms.contains($0.room) }
    /// All code, and all lines with texts that are no comments: what declares doors, and what errors say.
    private static let code = files.map(\.code).joined(separator: "\n")
    private static let texts = files.flatMap { $0.text.split(separator: "\n") }
        .filter { $0.contains("\"") && !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")

    private func tables() throws -> (failing: Substring, others: Substring) {
        let page = try String(contentsOf: SourceTree.root.appending(path: "LIMITS.md"), encoding: .utf8)
        let parts = page.split(separator: "\n## ")
        try #require(parts.count == 3)
        return (parts[1], parts[2])
    }

    private func rows(_ table: Substring) -> [[String]] {
        table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private func names(in cell: String) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The numbers that are called limits, by their type and their name.
    private static var limits: Set<String> {
        let number = /static (?:let|var) (\w+)(?:: \w+)?\s*(?:=|\{)\s*[0-9]/
        let limit = /(?i)limit|most|max|longest|largest|deepest|capacity|depth|attempts|budget/
        var found: Set<String> = []
        for file in files {
            for match in file.code.matches(of: number) where match.1.contains(limit) {
                if let owner = owner(of: match.range.lowerBound, in: file.code) {
                    found.insert("\(owner).\(match.1)")
                }
            }
        }
        return found
    }

    /// The innermost type around a place: the nearest line above that declares one and is less indented.
    private static func owner(of place: String.Index, in code: String) -> Substring? {
        func indentation(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
        let above = code[..<place].split(separator: "\n", omittingEmptySubsequences: false)
        let inner = above.last.map(indentation) ?? 0
        let type = /^ *(?:@\w+(?:\([^)]*\))? |\w+ )*?(?:struct|class|enum|actor|protocol|extension) (\w+)/
        for line in above.dropLast().reversed() where indentation(line) < inner {
            if let match = line.firstMatch(of: type) { return match.1 }
        }
        return nil
    }

    @Test("each number that is called a limit has a row, and no row is about a number that is gone")
    func complete() throws {
        let (failing, others) = try tables()
        let listed = rows(others).flatMap { names(in: $0[0]) }
        #expect(Set(listed).count == listed.count)
        let all = Set(listed).union(rows(failing).flatMap { names(in: $0[0]) })
        #expect(Self.limits.count > 60)
        #expect(Self.limits.subtracting(all).sorted() == [])
        #expect(Set(listed).subtracting(Self.limits).sorted() == [])
        let kinds: Set = ["paces", "forgets", "standard", "stack", "own", "attack", "tries"]
        #expect(rows(others).allSatisfy { kinds.contains($0[1]) })
    }

    @Test("each limit that fails a call has a door that is public, and an error that names the door")
    func doors() throws {
        let rows = rows(try tables().failing)
        #expect(rows.count > 15)
        for row in rows {
            let doors = names(in: row[2])
            #expect(!doors.isEmpty, "\(row[0])")
            for door in doors where door != "Accept-Encoding" {
                let word = door.split(separator: ".").last.map(String.init) ?? door
                let declarations =
                    if let call = try /(\w+)\(limit:\)/.wholeMatch(in: word) {
                        ["public func \(call.1)(", "public func \(call.1)<"]
                    } else {
                        ["public var \(word)", "open var \(word)", "public struct \(word)"]
                    }
                let isOpen = declarations.contains { Self.code.contains($0) }
                #expect(isOpen, "\(door)")
                // A parser's error has the name of the property that was exceeded.
                let said = door == "ParserLimits" ? "ParserLimits." : word
                let isSaid = Self.texts.contains(said)
                #expect(isSaid, "no error says \(door)")
            }
        }
    }
}
