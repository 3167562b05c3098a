import Testing

@testable import UncurlSemantics

@Suite("FoldedSetCookie")
struct FoldedSetCookieTests {
    @Test(
        "joined fields are told apart",
        arguments: [
            ("a=b", ["a=b"]),
            ("a=b, c=d,e=f", ["a=b", " c=d", "e=f"]),
            (
                "a=b; Expires=Wed, 21 Oct 2037 07:28:00 GMT, c=d",
                ["a=b; Expires=Wed, 21 Oct 2037 07:28:00 GMT", " c=d"]
            ),
            ("a=b; expires=Sun, 16-Aug-2025 22:39:54 GMT", ["a=b; expires=Sun, 16-Aug-2025 22:39:54 GMT"]),
            ("a=\"x,y=z\"; Path=/, c=d", ["a=\"x,y=z\"; Path=/", " c=d"]),
            ("a=\"x, c=d", ["a=\"x", " c=d"]),
            ("a=\"x, c=d; e=\"f\"", ["a=\"x", " c=d; e=\"f\""]),
            ("a=b; Port=\"80,443\", c =d", ["a=b; Port=\"80,443\"", " c =d"]),
            ("n=v; Comment=real value, tok@en=second", ["n=v; Comment=real value, tok@en=second"]),
            ("a=b, c", ["a=b, c"]), ("a=b,", ["a=b,"]), ("", []), (" ", []), (",a=b", ["a=b"]),
        ] as [(String, [String])]
    )
    func split(text: String, lines: [String]) {
        #expect(SetCookieLine.split(text) == lines)
    }
}
