import TestSupport
import Testing
import UncurlText

@testable import UncurlLoad

@Suite("Byte patterns", .ownThread)
struct BytePatternTests {
    private func found(_ pattern: String, _ text: String) throws -> String? {
        try BytePattern(pattern).first(in: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "a pattern finds its first group at the leftmost place, or all that matches",
        arguments: [
            ("b+", "abbbc", "bbb"), ("b+?", "abbbc", "b"), ("a(b+)c", "xabbc", "bb"), ("(a|ab)(c|bcd)", "abcd", "a"),
            (#"value="([^"]*)""#, #"<input name="csrf" value="x-1 y">"#, "x-1 y"), (#"\d{2,3}"#, "1 22 3333", "22"),
            (#"\d{4}"#, "1 22 33334", "3333"), ("^ab$", "ab", "ab"), ("a.c", "a\nc abc", "abc"),
            ("(?:ab)+(c)", "ababc", "c"),
            ("[a-c-]+", "x-ab-", "-ab-"), ("[]x]+", "a]x", "]x"), ("[^]]+", "]ab]", "ab"), (#"\S+$"#, "a bc", "bc"),
            ("x*", "aaa", ""), ("(x)?a", "a", ""), ("a{,2}", "a{,2}", "a{,2}"), (#"\$\{(\w+)\}"#, "${id}", "id"),
            ("(?:)*a", "ba", "a"), ("ü", "für", "ü"), ("a||b", "c", ""),
            ("(?:(?:(?:(?:){1000}){1000}){1000}){1000}a", "ba", "a"),
        ] as [(String, String, String)]
    )
    func finds(pattern: String, text: String, expected: String) throws {
        #expect(try found(pattern, text) == expected)
    }

    @Test("what does not match is nothing", arguments: [("^b", "ab"), ("a$", "ab"), ("[^a]", "aaa"), ("ab{2}", "ab")])
    func misses(pattern: String, text: String) throws {
        #expect(try found(pattern, text) == nil)
    }

    @Test(
        "a text that is no pattern is refused with the place",
        arguments: [
            "(a", "a)", "[a", "*a", "a**", #"\q"#, #"a\"#, "(?=a)", "a{2,1}", "a{2000}", "[b-a]", "(((a{999}){999}))",
        ]
    )
    func refuses(pattern: String) {
        #expect(throws: UsageError.self) { try BytePattern(pattern) }
    }

    @Test("a nested pattern is refused before it costs the stack")
    func deep() {
        let text = String(repeating: "(", count: 100_000)
        #expect(throws: UsageError.self) { try BytePattern(text) }
    }

    @Test("a pattern of many alternatives or open braces is read or refused before it costs stack or time")
    func many() throws {
        #expect(throws: UsageError.self) { try BytePattern("a" + String(repeating: "|a", count: 300_000)) }
        #expect(throws: UsageError.self) { try BytePattern(String(repeating: "{", count: 1_000_000)) }
        #expect(try found("a{,}b{1,2", "a{,}b{1,2") == "a{,}b{1,2")
    }

    @Test(
        "parts of a pattern that match only the empty text take no time, however often they are repeated",
        arguments: ["(?:)", "b{0}", "(?:){7}", "(?:b{0}(?:)*)+"]
    )
    func empty(part: String) throws {
        let parts = { (count: Int) in String(repeating: part, count: count) }
        let pattern = { (count: Int) in "(?:(?:a\(parts(4 * count))){\(count)}){4}" }
        try expectProportionalTime(from: 250, of: pattern) { _ = try BytePattern($0) }
        #expect(try found("(?:(?:a\(parts(4_000))c){2}){2}", "bacacacaca") == "acacacac")
    }

    @Test("only the first group takes part in a match: others are as long as without parentheses")
    func manyGroups() throws {
        #expect(try found(String(repeating: "(a)", count: 4_900), "aa") == nil)
        #expect(try found("(?:x)(a(b)|(c))+(d)?", "xabc") == "c")
        #expect(try found("()(a)", "a") == "")
        #expect(try found("(?:(a)|b)*", "ab") == "a")
        #expect(try found("(a){0}b", "ab") == "")
    }

    @Test("what a backtracking matcher never ends with takes a moment")
    func evil() throws {
        let text = String(repeating: "a", count: 20_000) + "!"
        #expect(try found("(?:a+)+$", text) == nil)
        #expect(try found("(a|aa)+b", text) == nil)
    }
}

@Suite("JSON pointers")
struct JSONPointerTests {
    @Test("the examples of RFC 6901 §5")
    func examples() throws {
        let text = #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#
        let document = try JSONReader.read(Array(text.utf8))
        let cases: [(String, String)] = [
            ("", document.line()), ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"),
            ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), (#"/i\j"#, "5"), (#"/k"l"#, "6"), ("/ ", "7"), ("/m~0n", "8"),
        ]
        for (pointer, value) in cases {
            #expect(JSONPointer(pointer)?.value(in: document)?.line() == value, "\(pointer)")
        }
        for pointer in ["/foo/2", "/foo/00", "/foo/-", "/nothing", "/foo/0/1"] {
            #expect(try #require(JSONPointer(pointer)).value(in: document) == nil, "\(pointer)")
        }
        for text in ["foo", "/a~", "/a~2"] { #expect(JSONPointer(text) == nil, "\(text)") }
    }
}
