import Testing

@testable import UncurlTestKit

@Suite("URL patterns", .timeLimit(.minutes(5)))
struct URLPatternTests {
    @Test(
        "one star stops at slashes, two cross them, and the rest is compared as it is",
        arguments: [
            ("/users/*", "http://h/users/1", true), ("/users/*", "http://h/users/", true),
            ("/users/*", "http://h/users/1/x", false), ("/users/**", "http://h/users/1/x", true),
            ("/users/*/x", "http://h/users/1/x", true), ("/users/*/x", "http://h/users/1/2/x", false),
            ("/**/x", "http://h/users/1/2/x", true), ("/**x", "http://h/x", true), ("/*", "http://h", true),
            ("/a*c*e", "http://h/abcde", true), ("/a*c*e", "http://h/ace", true), ("/a*c*e", "http://h/abcd", false),
            ("/***", "http://h/a/b/c", true), ("/a***b", "http://h/a/x/yb", true), ("/", "http://h/", true),
            ("HTTP://H/*", "http://h/a", true), ("http://*.h/a", "http://b.h/a", true),
            ("http://*.h/a", "http://b.c/x.h/a", false), ("/a?b=1&c=2", "http://h/a?c=2&b=1", true),
            ("/a", "http://h/a?b=1", true), ("/a?\u{301}b=1&\u{301}", "http://h/a?\u{301}&\u{301}b=1#\u{301}", true),
            ("http://\u{301}/*", "http://\u{301}/b", true), ("/\u{301}*", "http://h/\u{301}b", true),
            ("/a?e\u{301}", "http://h/a?\u{E9}", false), ("/a?b=1", "http://h/a", false), ("/é*", "http://h/éa", true),
        ]
    )
    func rows(pattern: String, url: String, isMatch: Bool) {
        #expect(URLPattern(pattern).matches(url) == isMatch)
    }

    @Test("a pattern of many stars is compared with a long path in time", arguments: ["*", "**"])
    func manyStars(star: String) {
        // With an attempt for each choice of the stars' ends, it would not end in the life of this machine.
        let pattern = URLPattern("/" + String(repeating: star + "a", count: 40) + "b")
        let path = String(repeating: "a", count: 2000)
        #expect(!pattern.matches("http://h/" + path))
        #expect(pattern.matches("http://h/" + path + "b"))
    }
}
