import Testing
import UncurlHTTP1

@Suite struct RequestLineParserTests {
    @Test(
        "any token is a method, and its case is kept",
        arguments: [
            "GET", "get", "M-FOO!", "PROPFIND", "a", String(repeating: "M", count: 1000),
        ]
    )
    func methods(method: String) {
        let outcome = requests("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(outcome.isComplete)
        #expect(firstHead(outcome).dropFirst(2).starts(with: octets("\(method) /")))
    }

    @Test("every octet stands in a method only if it is a token octet", arguments: 0...255)
    func methodOctets(octet: Int) {
        let isLegal = isToken(UInt8(octet))
        let outcome = requests("G\(scalar(octet))T / HTTP/1.1\r\nHost: a\r\n\r\n", cutEvery: 13)
        #expect(outcome.isComplete == isLegal)
        if !isLegal, octet != 32 { #expect(outcome.error == HTTP1Error(.invalidMethod, offset: 1)) }
    }

    @Test("every octet stands in a target only if it is a visible one and no #", arguments: 0...255)
    func targetOctets(octet: Int) {
        let isLegal = octet > 32 && octet < 127 && octet != 0x23
        for target in ["/\(scalar(octet))x", "/a/long/enough/path/\(scalar(octet))x"] {
            let outcome = requests("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n", cutEvery: 13)
            #expect(outcome.isComplete == isLegal, "octet \(octet)")
        }
    }

    @Test(
        "the four forms of a target are taken where they belong",
        arguments: [
            ("GET", "/", true), ("GET", "/a?b=c", true), ("GET", "//x", true), ("GET", "http://a/b", true),
            ("GET", "https://a:1/?q", true), ("GET", "a", false), ("GET", "*", false), ("GET", "http:/a", false),
            ("GET", "http:///a", false), ("GET", "1http://a", false), ("GET", "a.b:80", false),
            ("GET", "http://", false),
            ("OPTIONS", "*", true), ("OPTIONS", "**", false), ("CONNECT", "a.b:443", true),
            ("CONNECT", "[::1]:443", true),
            ("CONNECT", "a.b", false), ("CONNECT", "a.b:", false), ("CONNECT", "a.b:65536", false),
            ("CONNECT", "/", false), ("CONNECT", "u@a:1", false), ("CONNECT", ":1", false),
            ("CONNECT", "[::1:443", false),
        ]
    )
    func forms(method: String, target: String, isLegal: Bool) {
        let outcome = requests("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(outcome.isComplete == isLegal)
        if !isLegal { #expect(outcome.error?.kind == .invalidTarget && outcome.error?.responseStatus == 400) }
    }

    @Test(
        "a malformed request line is refused at the octet that is wrong",
        arguments: [
            ("GET  / HTTP/1.1", HTTP1Error.Kind.invalidTarget, 4),
            ("GET /  HTTP/1.1", .invalidRequestLine, 6),
            ("GET\t/ HTTP/1.1", .invalidMethod, 3),
            ("GET /\tHTTP/1.1", .invalidTarget, 5),
            (" GET / HTTP/1.1", .invalidMethod, 0),
            ("\0GET / HTTP/1.1", .invalidMethod, 0),
            ("GET /", .invalidRequestLine, 5),
            ("GET", .invalidMethod, 3),
            ("GET / ", .invalidRequestLine, 6),
            ("GET / HTTP/1.10", .invalidRequestLine, 14),
            ("GET / HTTP/1.1 ", .invalidRequestLine, 14),
            ("GET / http/1.1", .invalidRequestLine, 6),
            ("GET / HTTP/2.0", .unsupportedVersion, 11),
            ("GET / HTTP/0.9", .unsupportedVersion, 11),
            ("GET / HTTP/01.01", .invalidRequestLine, 12),
            ("GET / HTTP/2.01", .invalidRequestLine, 14),
            ("GET / HTTP/1.1\n", .bareLineFeed, 14),
            ("GET / HTTP/1.1\rX", .bareCarriageReturn, 15),
        ]
    )
    func illegal(line: String, kind: HTTP1Error.Kind, offset: UInt64) {
        let outcome = requests(line + "\r\nHost: a\r\n\r\n")
        #expect(outcome.error == HTTP1Error(kind, offset: offset))
        #expect(outcome.error?.responseStatus == (kind == .unsupportedVersion ? 505 : 400))
    }

    @Test("one empty line before a request line is skipped, a second one or a bare line end is not")
    func emptyLine() {
        #expect(requests("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", cutEvery: 13).isComplete)
        #expect(
            requests("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", cutEvery: 13).error
                == HTTP1Error(.invalidMethod, offset: 2)
        )
        #expect(
            requests("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", cutEvery: 13).error == HTTP1Error(.invalidMethod, offset: 0)
        )
        #expect(requests("\rGET / HTTP/1.1\r\n\r\n").error == HTTP1Error(.bareCarriageReturn, offset: 1))
    }

    @Test("a target at its limit passes, one octet more gives 414")
    func targetLimit() {
        var limits = ParserLimits()
        limits.targetBytes = 8000
        let longest = "/" + String(repeating: "a", count: 7999)
        #expect(feedRequests(octets("GET \(longest) HTTP/1.1\r\nHost: a\r\n\r\n"), limits: limits).isComplete)
        let outcome = requests("GET \(longest)a HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits)
        #expect(outcome.error == HTTP1Error(.limitExceeded(.targetBytes), offset: 8004))
        #expect(outcome.error?.responseStatus == 414)
    }

    @Test("a method at its limit passes, one octet more does not")
    func methodLimit() {
        var limits = ParserLimits()
        limits.methodBytes = 20
        let longest = String(repeating: "M", count: 20)
        #expect(requests("\(longest) / HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits).isComplete)
        let outcome = requests("\(longest)M / HTTP/1.1\r\nHost: a\r\n\r\n", limits: limits)
        #expect(outcome.error == HTTP1Error(.limitExceeded(.methodBytes), offset: 20))
    }

    private func firstHead(_ outcome: Outcome) -> [UInt8] {
        if case .head(let transcript)? = outcome.events.first { return transcript }
        return []
    }
}
