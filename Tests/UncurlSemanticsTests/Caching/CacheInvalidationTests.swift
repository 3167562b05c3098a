import Testing
import UncurlHTTP1

@testable import UncurlSemantics

@Suite("Invalidation")
struct CacheInvalidationTests {
    private func urls(_ method: String, _ status: Int = 200, _ response: HTTPFields = fields()) throws -> [String] {
        CacheRule.invalidated(
            method: method,
            url: try written("http://h.example/a/b"),
            status: status,
            response: response
        )
        .map(\.text)
    }

    @Test("what may change things, and did not fail, makes what is stored for its URL no good")
    func methods() throws {
        for method in ["POST", "PUT", "DELETE", "PATCH", "FROB"] {
            #expect(try urls(method) == ["http://h.example/a/b"], "\(method)")
            #expect(try urls(method, 303) == ["http://h.example/a/b"], "\(method)")
            #expect(try urls(method, 404).isEmpty && urls(method, 500).isEmpty, "\(method)")
        }
        for method in ["GET", "HEAD", "OPTIONS", "TRACE"] { #expect(try urls(method).isEmpty, "\(method)") }
    }

    @Test("a change invalidates what Location and Content-Location name, on the same origin")
    func named() throws {
        let response = fields(("Location", "../c?x"), ("Content-Location", "HTTP://H.example:80/d"))
        #expect(
            try urls("POST", 201, response) == [
                "http://h.example/a/b", "http://h.example/c?x", "HTTP://H.example:80/d",
            ]
        )
    }

    @Test(
        "a response does not invalidate what another origin has stored",
        arguments: ["https://h.example/c", "http://other.example/c", "http://h.example:81/c", "//other.example/", "::"]
    )
    func strangers(location: String) throws {
        #expect(
            try urls("POST", 201, fields(("Location", location))).filter { $0.contains("other") || $0.contains("81") }
                .isEmpty
        )
        #expect(try urls("POST", 201, fields(("Location", "https://h.example/c"))) == ["http://h.example/a/b"])
    }
}
