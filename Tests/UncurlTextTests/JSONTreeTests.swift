import Foundation
import Testing
import UncurlText

@Suite("JSON documents")
struct JSONTreeTests {
    @Test("any text survives a trip through another JSON reader")
    func strings() throws {
        let hard = "quote \" backslash \\ slash / tab \t lines \r\n nul \u{0} esc \u{1B} del \u{7F} é 🏐 \u{2028}"
        let text = JSONTree.object([(hard, .string(hard))]).text
        let read = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String]
        #expect(read == [hard: hard])
    }

    @Test("what is read is what was written, with surrogates that stand alone as a sign of their loss")
    func reading() throws {
        let hard = JSONTree.object([
            ("a", .array([.integer(.max), .number(0.5), .bool(true), nil])), ("é\u{0}🏐", "x"),
        ])
        #expect(try JSONReader.read(Array(hard.text.utf8)).text == hard.text)
        #expect(try JSONReader.read(Array(hard.line().utf8)).text == hard.text)
        let cut = #"["\ud83c\udfd0", "\ud83c", "\ud83cx", "\ud83c\u0041", "\udfd0"]"#
        let texts = try JSONReader.read(Array(cut.utf8), loneSurrogates: true).items.map(\.string)
        #expect(texts == ["🏐", "\u{FFFD}", "\u{FFFD}x", "\u{FFFD}A", "\u{FFFD}"])
        #expect(throws: JSONReader.Problem(.loneSurrogate, at: 20)) { try JSONReader.read(Array(cut.utf8)) }
        let deep = { (depth: Int) in
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        let twice = Array(#"{"a": 1, "b": {"a": 2}, "\u0061": 3}"#.utf8)
        #expect(try JSONReader.read(twice).line() == #"{"a":3,"b":{"a":2}}"#)
        #expect {
            try JSONReader.read(twice, uniqueNames: true)
        } throws: { error in
            (error as? JSONReader.Problem)?.offset == 24 && "\(error)" == "a member's name is there twice"
        }
        #expect(throws: Never.self) { try JSONReader.read(deep(512)) }
        for depth in [513, 1_000_000] {
            #expect(throws: JSONReader.Problem(.tooDeep(limit: 512), at: 512)) { try JSONReader.read(deep(depth)) }
        }
    }

    @Test("numbers are exact, and what is no number is null")
    func numbers() throws {
        #expect(JSONTree.integer(.max).text == "18446744073709551615\n")
        #expect(JSONTree.number(0.1).text == "0.1\n")
        #expect(JSONTree.number(.nan).text == "null\n")
        #expect(JSONTree.number(.infinity).text == "null\n")
        let small = try JSONSerialization.jsonObject(with: Data(JSONTree.array([.number(1e-30)]).text.utf8))
        #expect(small as? [Double] == [1e-30])
    }

    @Test("members keep their order, and empty containers stay on their line")
    func layout() {
        let value = JSONTree.object([("b", .array([])), ("a", .object([])), ("c", .array([.bool(true), nil]))])
        #expect(value.text == "{\n  \"b\": [],\n  \"a\": {},\n  \"c\": [\n    true,\n    null\n  ]\n}\n")
    }

    @Test("members whose names differ in their octets are two members (RFC 8259 §8.3)")
    func spellings() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        let tree = try JSONReader.read(Array(text.utf8))
        #expect(tree.line() == text)
        #expect(tree["\u{E9}"]?.integer == 1 && tree["e\u{301}"]?.integer == 2)
    }
}
