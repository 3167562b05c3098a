import Testing
import UncurlHTTP1

@Suite struct BodyFramingTests {
    private let next = "HTTP/1.1 200 Next\r\nContent-Length: 2\r\n\r\nok"

    @Test(
        "a response to HEAD, a 204 and a 304 have no body whatever their fields say",
        arguments: [
            "", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Content-Length: x\r\n",
        ]
    )
    func noBody(fields: String) {
        for (status, context) in [(200, ResponseContext.head), (404, .head), (204, plain), (304, plain)] {
            let outcome = responses("HTTP/1.1 \(status) x\r\n\(fields)\r\n" + next, answering: [context, plain])
            #expect(outcome.error == nil && outcome.surplus == 0)
            #expect(outcome.events.filter { $0 == .end }.count == 2)
            #expect(outcome.body == octets("ok"))
        }
    }

    @Test("2xx to CONNECT is a tunnel from the first octet after the head, another status has a body")
    func connect() {
        let tunnel = responses(
            "HTTP/1.1 200 x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nraw",
            answering: [.connect]
        )
        #expect(tunnel.events == [.tunnel] && tunnel.surplus == 3 && tunnel.finishError == nil)
        let refused = responses("HTTP/1.1 407 x\r\nContent-Length: 2\r\n\r\nno", answering: [.connect])
        #expect(refused.isComplete && refused.body == octets("no"))
    }

    @Test("Content-Length together with Transfer-Encoding is refused both ways, in HTTP/1.0 too")
    func both() {
        for version in ["1.1", "1.0"] {
            let fields = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
            let response = responses("HTTP/\(version) 200 OK\r\n\(fields)\r\n0\r\n\r\n")
            #expect(response.error?.kind == .contentLengthWithTransferEncoding)
            let request = requests("POST / HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n0\r\n\r\n")
            #expect(request.error?.kind == .contentLengthWithTransferEncoding && request.error?.responseStatus == 400)
        }
    }

    @Test(
        "Transfer-Encoding is a list that is `chunked` and nothing else",
        arguments: [
            ("chunked", nil), ("Chunked", nil), ("CHUNKED", nil), (",chunked", nil), ("chunked,", nil),
            (" , chunked , ,", nil),
            ("xchunked", HTTP1Error.Kind.chunkedNotFinal), ("\"chunked\"", .invalidTransferEncoding),
            ("chunked;q=1", .invalidTransferEncoding), ("identity", .chunkedNotFinal), ("gzip", .chunkedNotFinal),
            ("chunked, chunked", .chunkedRepeated), ("gzip, chunked", .unsupportedTransferCoding),
            ("gzip;a=b, chunked", .unsupportedTransferCoding), ("chunked, gzip", .chunkedNotFinal),
            ("chunked, identity", .chunkedNotFinal), ("", .invalidTransferEncoding), (",", .invalidTransferEncoding),
            ("chunked chunked", .invalidTransferEncoding), ("chu nked", .invalidTransferEncoding),
            ("\u{0B}chunked", .invalidFieldValue(byte: 11)), ("chunked\0", .invalidFieldValue(byte: 0)),
            ("chunked\u{A0}", .invalidTransferEncoding), ("x/chunked", .invalidTransferEncoding),
        ] as [(String, HTTP1Error.Kind?)]
    )
    func transferEncoding(value: String, kind: HTTP1Error.Kind?) {
        let response = responses("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(value)\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        #expect(response.error?.kind == kind)
        #expect(response.isComplete == (kind == nil))
        let request = requests("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \(value)\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        #expect(request.error?.kind == kind)
        if kind == .unsupportedTransferCoding { #expect(request.error?.responseStatus == 501) }
    }

    @Test("two Transfer-Encoding lines are one list")
    func twoLines() {
        let twice = "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
        #expect(responses("HTTP/1.1 200 OK\r\n\(twice)\r\n0\r\n\r\n").error?.kind == .chunkedRepeated)
        let after = "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n"
        #expect(responses("HTTP/1.1 200 OK\r\n\(after)\r\n0\r\n\r\n").error?.kind == .chunkedNotFinal)
        let empty = "Transfer-Encoding: chunked\r\nTransfer-Encoding: \r\n"
        #expect(responses("HTTP/1.1 200 OK\r\n\(empty)\r\n0\r\n\r\n").isComplete)
    }

    @Test("Transfer-Encoding in HTTP/1.0 is refused")
    func transferEncodingInHTTP10() {
        let response = responses("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(response.error?.kind == .transferEncodingInHTTP10)
        let request = requests("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(request.error?.kind == .transferEncodingInHTTP10)
    }

    @Test(
        "by leniency a response's chunks count beside a length and in HTTP/1.0, and nothing follows it",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: x\r\n",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n",
        ]
    )
    func chunksBesideLength(head: String) throws {
        let message = Array((head + "X: y\r\n\r\n2\r\nok\r\n0\r\n\r\nmore").utf8)
        for size in [1, 7, message.count] {
            var parser = ResponseParser(leniency: .chunksBesideLength)
            parser.begin(answering: .other(offeredUpgrade: false))
            var (scratch, body, position, isOver) = (ResponseHead(), [UInt8](), 0, false)
            while !isOver {
                let rest = message[position..<min(position + size, message.count)]
                let step = try parser.parse(rest.span, into: &scratch)
                switch step.event {
                case .head:
                    #expect(scratch.fields["X"] == "y" && !scratch.fields.contains("Content-Length"))
                    #expect(!scratch.fields.contains(.contentLength))
                case .body(let range): body += Array(rest)[range]
                case .end: isOver = true
                case .needsInput, .informational, .tunnel: break
                }
                position += step.consumed
            }
            #expect(body == octets("ok") && parser.persistence == .close && position == message.count - 4)
        }
        let strict = responses("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: gzip\r\n\r\nok")
        #expect(strict.error != nil)
    }

    @Test(
        "Content-Length is digits below 2^63 and nothing else",
        arguments: [
            "+5", "-0", "-5", "0x5", "5 5", "5,", ",5", "5,,5", "", "5;", "\u{D9}\u{A5}", "5.", "5e1",
            "9223372036854775808",
            "18446744073709551616", "18446744073709551621", "1" + String(repeating: "0", count: 400), "a", "\"5\"",
        ]
    )
    func badLength(value: String) {
        let response = responses("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nhello")
        #expect(response.error?.kind == .invalidContentLength)
        let request = requests("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(value)\r\n\r\nhello")
        #expect(request.error?.kind == .invalidContentLength)
    }

    @Test("leading zeros are legal and the largest length is taken without trapping")
    func goodLength() throws {
        #expect(responses("HTTP/1.1 200 OK\r\nContent-Length: 0005\r\n\r\nhello").body == octets("hello"))
        let zeros = String(repeating: "0", count: 60)
        #expect(responses("HTTP/1.1 200 OK\r\nContent-Length: \(zeros)5\r\n\r\nhello").isComplete)
        let largest = responses("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nhello")
        #expect(largest.finishError?.kind == .truncatedBody(expected: 9_223_372_036_854_775_807, received: 5))
    }

    @Test("equal lengths are merged by a client and refused by a server; differing ones are refused by both")
    func severalLengths() {
        for fields in [
            "Content-Length: 2\r\nContent-Length: 2\r\n", "Content-Length: 2, 2\r\n", "Content-Length: 2,002\r\n",
        ] {
            #expect(responses("HTTP/1.1 200 OK\r\n\(fields)\r\nok").isComplete)
            #expect(requests("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\nok").error != nil)
        }
        for fields in ["Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: 2, 3\r\n"] {
            #expect(responses("HTTP/1.1 200 OK\r\n\(fields)\r\nok").error?.kind == .differingContentLengths)
            #expect(requests("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\nok").error != nil)
        }
    }

    @Test("without length or coding a request has no body and a response goes on until the connection ends")
    func neither() {
        let request = requests("POST / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(request.isComplete && request.body.isEmpty)
        let response = responses("HTTP/1.1 200 OK\r\n\r\nuntil close")
        #expect(response.body == octets("until close") && !response.isComplete && response.finishError == nil)
    }

    @Test("octets behind a complete response are left alone")
    func surplus() {
        let outcome = responses(next + next)
        #expect(outcome.events.filter { $0 == .end }.count == 1 && outcome.surplus == next.utf8.count)
    }
}
