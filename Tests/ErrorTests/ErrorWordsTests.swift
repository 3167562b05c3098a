import Foundation
import Testing
import Uncurl

/// An error, and a part of what it must say.
struct ErrorWords: Sendable {
    let error: any Error & CustomStringConvertible & Sendable
    let fragment: String

    init(_ error: any Error & CustomStringConvertible & Sendable, _ fragment: String) {
        (self.error, self.fragment) = (error, fragment)
    }
}

@Suite("Words of errors")
struct ErrorWordsTests {
    /// What Swift prints by itself: a case with its labels, or a type with its fields.
    private func isDump(_ text: String, _ error: any Error) -> Bool {
        let type = String(describing: Swift.type(of: error))
        return text.contains(type) || text.contains("(code: ") || text.contains("Optional(")
            || !text.contains(" ") || text.contains("<") && text.contains("0x")
    }

    private func check(_ row: ErrorWords) {
        let said = row.error.description
        #expect(row.fragment.isEmpty || said.contains(row.fragment), "\(said)")
        #expect(!said.hasSuffix(".") && !said.contains("\n") && !isDump(said, row.error), "\(said)")
        #expect("\(row.error)" == said)
    }

    @Test("an error of the modules without Foundation says in a sentence what happened and where")
    func engine() {
        for row in EngineErrors.table { check(row) }
        expectDifference(EngineErrors.table)
    }

    @Test("an error above Foundation says the same by itself, as a LocalizedError and as an NSError")
    func facade() {
        for row in FacadeErrors.table {
            check(row)
            let said = row.error.description
            #expect((row.error as? any LocalizedError)?.errorDescription == said)
            #expect(row.error.localizedDescription == said)
            #expect((row.error as NSError).localizedDescription == said)
        }
        expectDifference(FacadeErrors.table)
    }

    /// Two cases of one type are told apart by their words.
    private func expectDifference(_ table: [ErrorWords]) {
        let said = Dictionary(grouping: table) { "\(String(reflecting: type(of: $0.error))): \($0.error.description)" }
        for (words, rows) in said { #expect(rows.count == 1, "\(words)") }
    }

    @Test(
        "text that is no JSON says what is wrong and at which octet",
        arguments: [
            ("[1", "ends within a value, at octet 2"), ("[1,]", "unexpected"),
            ("\"\\x\"", "an escape that does not exist"),
            ("01", "a malformed number"), ("1e999", "beyond the range"), ("\"\u{1}\"", "control character"),
            ("\"\\uD800\"", "one half of a surrogate pair"), ("-", "ends within a value"),
            ("1 2", "more text after the value"),
        ]
    )
    func json(text: String, words: String) {
        let failure = #expect(throws: JSONFailure.self) { try JSONValue(reading: Data(text.utf8)) }
        #expect(failure?.localizedDescription.contains(words) == true, "\(failure?.localizedDescription ?? "")")
    }
}
