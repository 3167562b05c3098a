import Testing

@testable import UncurlLoad

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

    @Test("each mark is replaced, also at the ends and side by side")
    func replacing() {
        #expect("a_b__c_".replacingEach("_", by: "-") == "a-b--c-")
        #expect("<&<".replacingEach("<", by: "&lt;") == "&lt;&&lt;")
        #expect("p99_ns_n".replacingEach("_ns", by: "") == "p99_n")
        #expect("".replacingEach("x", by: "y").isEmpty)
    }
}
