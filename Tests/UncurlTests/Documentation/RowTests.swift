import Foundation
import Testing

/// Every behaviour of the libraries that the facade follows has an id. Each is proven by a test that cites it, or stands in the
/// documentation of differences with the reason.
@Suite("Rows")
struct RowTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let rows: [Character: Int] = [
        "U": 34, "H": 10, "Q": 21, "P": 13, "S": 11, "C": 10, "R": 6, "K": 7, "O": 17, "A": 23, "B": 28, "D": 28,
    ]

    private static func text(in folder: String, _ ending: String) -> String {
        let place = root.appendingPathComponent(folder)
        let names = FileManager.default.enumerator(atPath: place.path)?.allObjects as? [String] ?? []
        return names.filter { $0.hasSuffix(ending) && !$0.hasSuffix("RowTests.swift") }
            .compactMap { try? String(contentsOf: place.appendingPathComponent($0), encoding: .utf8) }.joined()
    }

    /// `U4`, and each of `A12–A15`.
    private static func cited(_ text: String) -> Set<String> {
        var found = Set<String>()
        for match in text.matches(of: /\b([UHQPSCRKOABD])(\d{1,2})\b(?:[–-][UHQPSCRKOABD]?(\d{1,2})\b)?/) {
            guard let first = Int(match.2) else { continue }
            let last = match.3.flatMap { Int($0) } ?? first
            for number in first...max(first, last) { found.insert("\(match.1)\(number)") }
        }
        return found
    }

    @Test("each row is cited by a test, or by the documentation of differences; each defect by a test")
    func complete() {
        let tests = Self.cited(
            ["UncurlTests", "UncurlExtrasTests", "UncurlXMLTests", "UncurlTestKitTests"]
                .map { Self.text(in: "Tests/" + $0, ".swift") }.joined().components(separatedBy: "\n")
                .filter { $0.contains("@Test") || $0.contains("\"") }.joined(separator: "\n")
        )
        let differences = Self.cited(
            Self.text(in: "Sources/Uncurl/Uncurl.docc/Differences", ".md")
                + Self.text(in: "Sources/UncurlExtras/UncurlExtras.docc", ".md")
        )
        for (letter, count) in Self.rows {
            for number in 1...count {
                let row = "\(letter)\(number)"
                let isThere = tests.contains(row) || (letter != "D" && differences.contains(row))
                #expect(isThere, "\(row)")
            }
        }
    }
}
