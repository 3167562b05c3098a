import Testing
import UncurlHTTP1

@Suite struct RequestParserTests {
    @Test("pipelined requests come out one after another, in their order")
    func pipelined() {
        let outcome = requests(
            "GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                + "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\nGET /d HTTP/1.0\r\n\r\n"
        )
        #expect(outcome.events.filter { $0 == .end }.count == 4 && outcome.body == octets("abcde"))
        #expect(outcome.error == nil && outcome.finishError == nil)
    }

    @Test(
        "Host is there exactly once and well formed, except that HTTP/1.0 may leave it out",
        arguments: [
            ("1.1", "Host: a.b\r\n", nil), ("1.1", "Host:\r\n", nil), ("1.1", "HOST: [::1]:80\r\n", nil),
            ("1.1", "Host: a:\r\n", nil), ("1.1", "Host: a_b-c.d~e:65535\r\n", nil), ("1.0", "", nil),
            ("1.1", "", HTTP1Error.Kind.missingHost), ("1.1", "Host: a\r\nHost: a\r\n", .repeatedHost),
            ("1.0", "Host: a\r\nhost: b\r\n", .repeatedHost), ("1.1", "Host: a b\r\n", .invalidHost),
            ("1.1", "Host: a,b\r\n", .invalidHost), ("1.1", "Host: u@a\r\n", .invalidHost),
            ("1.1", "Host: a/b\r\n", .invalidHost), ("1.1", "Host: a:65536\r\n", .invalidHost),
            ("1.1", "Host: a:8x\r\n", .invalidHost), ("1.1", "Host: :80\r\n", .invalidHost),
            ("1.1", "Host: [::1\r\n", .invalidHost), ("1.1", "Host: []\r\n", .invalidHost),
            ("1.0", "Host: a?b\r\n", .invalidHost), ("1.1", "Host: a#b\r\n", .invalidHost),
            ("1.1", "Host: \u{E9}\r\n", .invalidHost), ("1.1", "Host: [::1]x\r\n", .invalidHost),
        ] as [(String, String, HTTP1Error.Kind?)]
    )
    func host(version: String, fields: String, kind: HTTP1Error.Kind?) {
        let outcome = requests("GET / HTTP/\(version)\r\n\(fields)\r\n")
        #expect(outcome.error?.kind == kind && outcome.isComplete == (kind == nil))
        if let error = outcome.error { #expect(error.responseStatus == 400) }
    }

    @Test("the connection may end between two requests and nowhere else")
    func truncated() {
        let text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab"
        for length in 0...text.utf8.count {
            let outcome = feedRequests(Array(octets(text).prefix(length)), cuts: .single)
            #expect((outcome.finishError == nil) == (length == 0 || length == text.utf8.count), "cut at \(length)")
        }
    }

    @Test(
        "an empty line behind a request begins none: the connection may end there, storage may go, a request may come",
        arguments: [["\r", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"], ["\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"]]
    )
    func emptyLineAtTheEnd(parts: [String]) throws {
        var parser = RequestParser()
        var head = RequestHead()
        #expect(try parser.parse(octets(parts[0]).span, into: &head).event == .needsInput)
        #expect(parser.isBetweenMessages)
        parser.releaseStorage()
        var ended = parser
        try ended.finish()
        #expect(try parser.parse(octets(parts[1]).span, into: &head).event == .head)
        #expect(head.target == "/")
        #expect(head.method == "GET")
    }

    @Test(
        "names differing in case only are one field to framing",
        arguments: ["CONTENT-LENGTH", "content-length", "cOnTeNt-lEnGtH"]
    )
    func caseOfNames(name: String) {
        #expect(requests("POST / HTTP/1.1\r\nHost: a\r\n\(name): 2\r\n\r\nab").body == octets("ab"))
        #expect(
            requests("POST / HTTP/1.1\r\nHost: a\r\n\(name): 2\r\nContent-Length: 2\r\n\r\nab").error?.kind
                == .repeatedContentLength
        )
    }

    @Test("a body over the limit gives 413 before any of it is read, chunked at the chunk that passes it")
    func bodyLimit() {
        var limits = ParserLimits()
        limits.bodyBytes = 4
        #expect(requests("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd", limits: limits).isComplete)
        let length = requests("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde", limits: limits)
        #expect(
            length.error?.kind == .limitExceeded(.bodyBytes) && length.error?.responseStatus == 413
                && length.events.isEmpty
        )
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(requests(head + "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", limits: limits).isComplete)
        let chunked = requests(head + "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n", limits: limits)
        #expect(chunked.error?.kind == .limitExceeded(.bodyBytes) && chunked.body == octets("ab"))
    }
}
