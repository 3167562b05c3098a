import Testing
import UncurlText

@testable import UncurlWebSocket

@Suite struct HeaderTextTests {
    @Test("base64 pads as RFC 4648 §10 does")
    func base64() {
        let pairs = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
        ]
        for (plain, coded) in pairs { #expect(base64Text(Array(plain.utf8)) == coded) }
    }

    @Test("a list loses its blanks and its empty elements")
    func list() {
        #expect(Agreement.list([" a ,\t b", "", ",c"]) == ["a", "b", "c"])
        #expect(Agreement.trimmed(" \t ") == "" && Agreement.trimmed("a b ") == "a b")
    }

    @Test("a combining mark is part of no comma, and makes another value")
    func combiningMarks() {
        #expect(Agreement.list(["a,\u{301}b"]) == ["a", "\u{301}b"])
        #expect(Agreement.areOnly("13", [" 13\t"]))
        #expect(!Agreement.areOnly("13", ["13\u{301}"]) && !Agreement.areOnly("13", []))
        #expect(!Agreement.areOnly("13", ["13", "13"]) && !Agreement.areOnly("\u{E9}", ["e\u{301}"]))
    }
}
