import Testing

@testable import UncurlSemantics

@Suite("Cache keys")
struct CacheKeyTests {
    @Test(
        "URLs that are the same by RFC 9110 §4.2.3 have one key, without the fragment",
        arguments: [
            ("http://h.example", "http://h.example/"), ("HTTP://H.Example:80/A?B#c", "http://h.example/A?B"),
            ("https://h.example:443?q", "https://h.example/?q"), ("HTTPS://h.example:443/", "https://h.example/"),
            ("http://h.example:8080/", "http://h.example:8080/"), ("http://h.example:443/", "http://h.example:443/"),
            ("http://[::1]:80/x", "http://[::1]/x"),
            ("https://h.example:80/x", "https://h.example:80/x"), ("http://h.example:180/x", "http://h.example:180/x"),
            ("http://h.example/a:80/b", "http://h.example/a:80/b"), ("file:///A", "file:///A"),
            ("data:,A#b", "data:,A"),
        ]
    )
    func normal(text: String, expected: String) {
        #expect(CacheKey(method: "GET", url: text).url == expected)
    }

    @Test("query, path, port, scheme and method tell keys apart")
    func different() throws {
        let texts = ["http://h/q?x=1", "http://h/q?x=2", "http://h/q", "http://h/Q", "https://h/q", "http://h:81/q"]
        #expect(Set(texts.map { CacheKey(method: "GET", url: $0) }).count == texts.count)
        #expect(CacheKey(method: "GET", url: texts[0]) != CacheKey(method: "HEAD", url: texts[0]))
    }
}
