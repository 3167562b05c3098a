import Testing
import UncurlReactor
import UncurlText

@testable import UncurlLoad
@testable import UncurlLoadReports

/// One of each case of the room's errors, with a part of what it must say.
@Suite("Words of errors about reports")
struct ErrorWordsTests {
    private static let table: [(UsageError, String)] = [
        (.file(.unreadable("a", .noSuchFile)), "the report \"a\" cannot be read"),
        (.foreign("a"), "\"a\" is JSON, but not a report of volley"),
        (.schema("a", found: "9", newest: 2), "the schema 9 and this volley reads up to 2"),
        (.noHistograms("a"), "\"a\" holds no histograms"),
        (.histogram("a", .notZlib), "a histogram that cannot be read: its zlib stream is broken"),
        (.interval("a"), "an interval that cannot be read"),
        (.logLine("a", number: 7, .truncated), "\"a\", line 7, is not a line of a histogram log"),
        (.logTooLong("a", limit: 10), "more than 10 lines: use longer intervals"),
        (.emptyLog("a"), "\"a\" has no histogram in it"),
        (.tooManyTags("a", limit: 9), "more than 9 tags: merge the logs of one run"),
        (.twoKinds("a", "b", member: "work"), "\"a\" and \"b\" are of two kinds of run: work differs"),
        (.otherKind("b", than: "a", member: "work"), "another kind of run than \"a\": work differs"),
        (.otherValue("b", member: "url"), "another kind of \"url\""),
        (.tooManyValues("b", isLog: true), "they are no logs of runs"),
        (.tooManyValues("b", isLog: false), "they are no reports of runs"),
        (.nothingToMerge, "name reports"),
    ]

    @Test("each error says in one line which file is unusable, and why", arguments: table.indices)
    func words(index: Int) {
        let (error, fragment) = Self.table[index]
        let said = "\(error)"
        #expect(said.contains(fragment), "\(said)")
        #expect(!said.hasSuffix(".") && !said.contains("\n"), "\(said)")
    }

    @Test("text that is no JSON says what is wrong, and after how many bytes")
    func json() throws {
        let read = #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array("{\"a\": tru}".utf8)) }
        let problem = try #require(read)
        #expect("\(UsageError.notJSON("a", problem))" == "\"a\" is not a JSON report: at byte 9 unexpected }")
    }
}
