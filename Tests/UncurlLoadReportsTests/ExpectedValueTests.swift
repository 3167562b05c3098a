import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad

/// Values that a scenario expects in answers.
@Suite("Expected values", .ownThread)
struct ExpectedValueTests {
    @Test("an object is compared with the expected one in time in proportion to its members")
    func members() throws {
        let root = try #require(JSONPointer(""))
        let object = { (names: [String]) -> JSONTree in .object(names.map { ($0, .integer(1)) }) }
        let objects = { (count: Int) in
            let names = (0..<count).map { "member \($0)" }
            return (
                expectation: ScenarioStep.Expectation.json(root, object(names)), same: object(names.reversed()),
                other: object(names.dropLast() + ["another"])
            )
        }
        expectProportionalTime(from: 2_000, of: objects) { expectation, same, other in
            #expect(expectation.problem(in: LoadResponse(), same, []) == nil)
            #expect(expectation.problem(in: LoadResponse(), other, []) != nil)
        }
    }

    @Test("a text is expected octet by octet, whatever else its characters are equal to")
    func texts() throws {
        let root = try #require(JSONPointer(""))
        let expects = { (value: JSONTree, answer: JSONTree) in
            ScenarioStep.Expectation.json(root, value).problem(in: LoadResponse(), answer, []) == nil
        }
        #expect(expects("\u{E9}", "\u{E9}") && !expects("\u{E9}", "e\u{301}"))
        expectProportionalTime(ofMarks: JSONTree.string) { #expect(!expects("a", $0) && !expects(nil, $0)) }
        #expect(expects(nil, nil) && expects(.bool(true), .bool(true)) && !expects(.bool(true), .integer(1)))
        #expect(expects(.integer(1), .number("1.0")) && !expects(.integer(1), .integer(2)))
    }
}
