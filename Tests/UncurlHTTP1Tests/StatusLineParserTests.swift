import Testing
import UncurlHTTP1

@Suite struct StatusLineParserTests {
    @Test(
        "a status line is read with its version, code and reason",
        arguments: [
            ("HTTP/1.1 200 OK", 1, 200, "OK"),
            ("HTTP/1.0 404 Not Found", 0, 404, "Not Found"),
            ("HTTP/1.9 299 Mostly fine", 9, 299, "Mostly fine"),
            ("HTTP/1.1 200 ", 1, 200, ""),
            ("HTTP/1.1 200", 1, 200, ""),
            ("HTTP/1.1 499 a\tb", 1, 499, "a\tb"),
            ("HTTP/1.1 600  two spaces", 1, 600, " two spaces"),
            ("HTTP/1.1 999 x", 1, 999, "x"),
        ]
    )
    func legal(line: String, minor: Int, status: Int, reason: String) throws {
        let text = line + "\r\nContent-Length: 0\r\n\r\n"
        let head = try responseHead(text)
        #expect(Int(head.version.minor) == minor && head.status == status && head.reason == reason)
        #expect(responses(text).isComplete)
    }

    @Test(
        "a malformed status line is refused at the octet that is wrong",
        arguments: [
            ("HTTP/2.0 200 OK", HTTP1Error.Kind.unsupportedVersion, 5),
            ("HTTP/0.9 200 OK", .unsupportedVersion, 5),
            ("HTTP/01.1 200 OK", .unsupportedVersion, 5),
            ("HTTP/1.10 200 OK", .invalidStatusLine, 8),
            ("HTTP/1.1X 200 OK", .invalidStatusLine, 8),
            ("HTTP/1. 200 OK", .invalidStatusLine, 7),
            ("HTTP/1,1 200 OK", .invalidStatusLine, 6),
            ("http/1.1 200 OK", .invalidStatusLine, 0),
            ("HTTP /1.1 200 OK", .invalidStatusLine, 4),
            (" HTTP/1.1 200 OK", .invalidStatusLine, 0),
            ("\r\nHTTP/1.1 200 OK", .invalidStatusLine, 0),
            ("HTTP/1.1  200 OK", .invalidStatusLine, 9),
            ("HTTP/1.1\t200 OK", .invalidStatusLine, 8),
            ("HTTP/1.1 20 OK", .invalidStatusLine, 11),
            ("HTTP/1.1 2000 OK", .invalidStatusLine, 12),
            ("HTTP/1.1 +20 OK", .invalidStatusLine, 9),
            ("HTTP/1.1 -20 OK", .invalidStatusLine, 9),
            ("HTTP/1.1 099 OK", .invalidStatusCode, 9),
            ("HTTP/1.1 200\tOK", .invalidStatusLine, 12),
            ("ICY 200 OK", .invalidStatusLine, 0),
            ("HTTP/1.1 200 OK\rX", .bareCarriageReturn, 16),
            ("HTTP/1.1 200 OK\n", .bareLineFeed, 15),
            ("HTTP/1.1 200\n", .bareLineFeed, 12),
        ]
    )
    func illegal(line: String, kind: HTTP1Error.Kind, offset: UInt64) {
        let outcome = responses(line + "\r\nContent-Length: 0\r\n\r\n")
        #expect(outcome.error == HTTP1Error(kind, offset: offset))
        #expect(outcome.events.isEmpty)
    }

    @Test("a TLS alert in place of a status line is named, other octets behind its first are not")
    func alert() {
        for every in [1, 2, 7] {
            let outcome = responses("\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}F", cutEvery: every)
            #expect(outcome.error == HTTP1Error(.tlsAlert, offset: 0))
            #expect(
                responses("\u{15}\u{4}\u{1}\u{0}", cutEvery: every).error == HTTP1Error(.invalidStatusLine, offset: 0)
            )
        }
        #expect(responses("\u{16}\u{3}\u{1}").error == HTTP1Error(.invalidStatusLine, offset: 0))
        let junk = responses("\u{15}\u{3}\nHTTP/1.1 204 OK\r\n\r\n", leniency: .junkBeforeStatusLine)
        #expect(junk.isComplete)
    }

    @Test("a reason phrase holds any octet but controls, HTAB apart", arguments: 0...255)
    func reasonOctets(octet: Int) {
        let isLegal = octet == 9 || octet >= 32 && octet != 127
        for reason in ["\(scalar(octet))", "a\(scalar(octet))b", "long enough for a block \(scalar(octet))"] {
            let outcome = responses("HTTP/1.1 200 \(reason)\r\nContent-Length: 0\r\n\r\n", cutEvery: 13)
            #expect(outcome.isComplete == isLegal, "octet \(octet)")
        }
    }

    @Test("junk before the status line is skipped only where that is allowed, and counts as part of the head")
    func junk() {
        let text = "\r\nleft over\nHTTQ\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        #expect(responses(text).error?.kind == .invalidStatusLine)
        #expect(responses(text, leniency: .junkBeforeStatusLine).isComplete)
        var limits = ParserLimits()
        limits.headBytes = 60
        let flood = String(repeating: "junk\n", count: 20)
        let outcome = responses(flood + text, limits: limits, leniency: .junkBeforeStatusLine)
        #expect(outcome.error == HTTP1Error(.limitExceeded(.headBytes), offset: 60))
    }

    @Test(
        "a status line that is begun right and goes wrong is never junk",
        arguments: [
            ("HTTP/1.1 2x0 OK", 10), ("http/1.1 2x0 OK", 10), ("HTTP 200 OK", 4), ("ICY 2x0 OK", 5), ("ICY OK", 4),
        ]
    )
    func notJunk(line: String, offset: UInt64) {
        for every in [1, 3, 64] {
            let outcome = responses("\(line)\r\n\r\n", leniency: .junkBeforeStatusLine, cutEvery: every)
            #expect(outcome.error == HTTP1Error(.invalidStatusLine, offset: offset))
        }
    }

    @Test(
        "a status line of an old server's is read where junk is allowed, and refused elsewhere",
        arguments: [
            "http/1.1 200 OK", "Http/1.0 200", "ICY 200 OK", "ICY 200", "left over\nICY 200 OK", "IC\nICX\nICY 200 OK",
        ]
    )
    func oldServer(line: String) {
        let text = "\(line)\r\nContent-Length: 0\r\n\r\n"
        for every in [1, 3, 64] {
            #expect(responses(text, leniency: [.junkBeforeStatusLine, .bareLF], cutEvery: every).isComplete)
            #expect(responses(text, cutEvery: every).error?.kind == .invalidStatusLine)
        }
    }
}

func scalar(_ octet: Int) -> Character { Character(Unicode.Scalar(UInt8(octet))) }
