import Testing

@testable import UncurlSemantics

@Suite("URI references")
struct URIReferenceTests {
    private func resolve(_ reference: String, _ base: String) -> String {
        let target = URIReference(Array(reference.utf8)).resolved(against: URIReference(Array(base.utf8)))
        return String(decoding: target.bytes, as: UTF8.self)
    }

    @Test(
        "all the examples of RFC 3986 §5.4 come out",
        arguments: [
            // §5.4.1
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"),
            // §5.4.2
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
            ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
        ]
    )
    func examples(reference: String, expected: String) {
        #expect(resolve(reference, "http://a/b/c/d;p?q") == expected)
    }

    @Test("a base without a path lends its authority and a slash (RFC 3986 §5.2.3)")
    func emptyBasePath() {
        #expect(resolve("g", "http://a") == "http://a/g")
        #expect(resolve("?y", "http://a") == "http://a?y")
    }

    @Test("a colon that no scheme stands before belongs to the path")
    func colons() {
        #expect(URIReference(Array("1a:b".utf8)).scheme == nil)
        #expect(URIReference(Array("a/b:c".utf8)).scheme == nil)
        #expect(resolve("/x:8080/y", "http://a/b") == "http://a/x:8080/y")
    }

    @Test("a path of a hundred thousand dot segments takes a moment, not a minute")
    func longPaths() {
        let path = String(repeating: "../a/./", count: 100_000)
        #expect(resolve("/" + path, "http://a/").hasPrefix("http://a/a/"))
        let back = String(repeating: "a/", count: 100_000) + String(repeating: "../", count: 100_000)
        #expect(resolve("/" + back, "http://a/") == "http://a/")
    }
}
