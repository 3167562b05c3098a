import Testing

@testable import Uncurl

/// A delimiter with a combining mark behind it is one character, and a delimiter none the less.
@Suite("Media ranges")
struct MediaRangeTests {
    @Test(
        "the ranges of a field are split at octets, whatever follows a delimiter",
        arguments: [
            ("text/html, */*;q=0.5", ["text/html", "*/*"]), ("a/b;q=0, c/d; q=0.0,e/f;q=1", ["e/f"]),
            (" a/b\t,,c , d/e/f, /g, h/", ["a/b"]), ("a/b,\u{301}c/d", ["a/b"]),
            ("a/b;\u{301}x, c/d;\u{301};q=0", ["a/b"]), ("a/\u{301}b", []),
        ]
    )
    func accepted(field: String, ranges: [String]) {
        #expect(MediaRange.accepted(by: field) == ranges)
    }

    @Test(
        "a range contains what is in it, in any case, and types of its suffix",
        arguments: [
            ("*/*", "a/b", true), ("a/*", "A/B", true), ("a/b", "a/c", false),
            ("Text/HTML;\u{301}x", "text/html", true),
            ("application/json", "application/problem+json", true), ("application/xml", "image/svg+xml", true),
            ("application/json", "a/json", false), ("a/json", "a/b+json", false),
        ]
    )
    func contains(range: String, other: String, isInside: Bool) throws {
        #expect(try #require(MediaRange(range)).contains(try #require(MediaRange(other))) == isInside)
    }
    @Test(
        "a type without blanks and parameters is found to be one, and nothing else is",
        arguments: [
            ("a/b", true), ("application/problem+json", true), ("a/b;c=d", false), ("a /b", false), ("a/b/c", false),
            ("/b", false), ("a/", false), ("ab", false), ("", false), ("a/\u{301}b", false), ("a/é", false),
        ]
    )
    func plain(text: String, isOne: Bool) {
        #expect(MediaRange.isPlain(text) == isOne)
        if isOne { #expect(MediaRange(text) != nil) }
    }
}
