import Testing

@testable import LoadGenerator

struct QuotingTests {
    @Test("a user's text stays on one line inside a message")
    func oneLine() {
        #expect(quoted("a\nb\u{1B}[2J") == "\"a\\u{a}b\\u{1b}[2J\"")
        #expect(quoted("say \"hi\" \\") == "\"say \\\"hi\\\" \\\\\"")
        #expect(quoted("\u{2028}\u{85}") == "\"\\u{2028}\\u{85}\"")
    }

    @Test("a user's text is cut to what leaves the message readable")
    func short() {
        #expect(quoted(String(repeating: "x", count: 500)) == "\"" + String(repeating: "x", count: 96) + "…\"")
    }
}
