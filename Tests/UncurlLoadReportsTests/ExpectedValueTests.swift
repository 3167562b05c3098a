import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad

/// Values that a scenario expects in answers.
@Suite("Expected values", .ownThread)
struct ExpectedValueTests {
    @Test("an object is compared with the expected one in time in proportion to its members")
    func members() throws {
        let names = (0..<30_000).map { "member \($0)" }
        let object = { (names: [String]) -> JSONTree in .object(names.map { ($0, .integer(1)) }) }
        let expectation = ScenarioStep.Expectation.json(try #require(JSONPointer("")), object(names))
        var isMet = false
        #expect(
            processorTime { isMet = expectation.problem(in: LoadResponse(), object(names.reversed()), []) == nil } < 3
        )
        #expect(isMet)
        #expect(expectation.problem(in: LoadResponse(), object(names.dropLast() + ["another"]), []) != nil)
    }

    @Test("a text is expected octet by octet, whatever else its characters are equal to")
    func texts() throws {
        let root = try #require(JSONPointer(""))
        let expects = { (value: JSONTree, answer: JSONTree) in
            ScenarioStep.Expectation.json(root, value).problem(in: LoadResponse(), answer, []) == nil
        }
        #expect(expects("\u{E9}", "\u{E9}") && !expects("\u{E9}", "e\u{301}"))
        var isMet = true
        #expect(processorTime { isMet = expects("a", .string(marks)) || expects(nil, .string(marks)) } < 0.5)
        #expect(!isMet)
        #expect(expects(nil, nil) && expects(.bool(true), .bool(true)) && !expects(.bool(true), .integer(1)))
        #expect(expects(.integer(1), .number("1.0")) && !expects(.integer(1), .integer(2)))
    }
}
