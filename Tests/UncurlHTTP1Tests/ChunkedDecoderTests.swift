import Testing
import UncurlHTTP1

@Suite struct ChunkedDecoderTests {
    private func body(_ text: String, limits: ParserLimits = ParserLimits()) -> Outcome {
        responses("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text, limits: limits)
    }

    /// The head above has that many octets.
    private let headBytes: UInt64 = 47

    @Test(
        "a chunked body is read to its last octet and no further",
        arguments: [
            ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"),
            ("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
            ("000\r\n\r\n", ""), ("0005\r\nhello\r\n000\r\n\r\n", "hello"), ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
            ("00000000000000000000000005\r\nhello\r\n0\r\n\r\n", "hello"),
            ("5;a\r\nhello\r\n0;b=c\r\n\r\n", "hello"),
            ("5 ;\t a\t = \"x;y\\\"\\\\\" ;c=d\r\nhello\r\n0\r\n\r\n", "hello"),
            ("5;a=\"\u{E9}\t\"\r\nhello\r\n0\r\n\r\n", "hello"), ("1\r\n0\r\n0\r\nA: b\r\nC:\r\n\r\n", "0"),
        ]
    )
    func legal(text: String, decoded: String) {
        let outcome = body(text + "surplus")
        #expect(outcome.isComplete && outcome.body == octets(decoded) && outcome.surplus == 7)
        #expect(
            ReferenceChunks.decode(octets(text + "surplus"))
                == .complete(octets(decoded), length: text.unicodeScalars.count)
        )
    }

    @Test(
        "a malformed chunk is refused at the octet that is wrong",
        arguments: [
            ("-1\r\n", HTTP1Error.Kind.invalidChunkSize, 0), ("+1\r\n", .invalidChunkSize, 0),
            ("0x1\r\n", .invalidChunkSize, 1), (" 1\r\n", .invalidChunkSize, 0), ("1 \r\n", .invalidChunkExtension, 2),
            ("1_0\r\n", .invalidChunkSize, 1), ("\r\n", .invalidChunkSize, 0), ("g\r\n", .invalidChunkSize, 0),
            (";a\r\n", .invalidChunkSize, 0), ("1\n", .bareLineFeed, 1), ("1\rX", .bareCarriageReturn, 2),
            ("FFFFFFFFFFFFFFFF\r\n", .chunkSizeOverflow, 15), ("8000000000000000\r\n", .chunkSizeOverflow, 15),
            ("10000000000000000\r\n", .chunkSizeOverflow, 16),
            ("1\r\na7FFFFFFFFFFFFFFF\r\n", .missingChunkDataEnd, 4),
            ("1\r\na\r\n7FFFFFFFFFFFFFFF\r\n", .chunkSizeOverflow, 22),
            ("1\r\nab\r\n", .missingChunkDataEnd, 4), ("1\r\na\n", .missingChunkDataEnd, 4),
            ("1\r\na\r0", .missingChunkDataEnd, 5),
            ("1;\r\n", .invalidChunkExtension, 2), ("1;a=\r\n", .invalidChunkExtension, 4),
            ("1;a \r\n", .invalidChunkExtension, 4),
            ("1;a b\r\n", .invalidChunkExtension, 4), ("1;a=\"x\r\n", .invalidChunkExtension, 6),
            ("1;a=\"x\"y\r\n", .invalidChunkExtension, 7),
            ("1;a\n", .bareLineFeed, 3), ("1;a=\"\n", .bareLineFeed, 5), ("1;\0\r\n", .invalidChunkExtension, 2),
            ("0\r\n\n", .bareLineFeed, 3), ("0\r\n\rX", .bareCarriageReturn, 4), ("0\r\nA\r\n", .missingColon, 4),
            ("0\r\nA : b\r\n", .whitespaceBeforeColon, 4), ("0\r\n A: b\r\n", .whitespaceBeforeFirstField, 3),
            ("0\r\nA: \0\r\n", .invalidFieldValue(byte: 0), 6), ("0\r\nA: b\n\r\n", .bareLineFeed, 7),
        ]
    )
    func illegal(text: String, kind: HTTP1Error.Kind, offset: UInt64) {
        #expect(body(text).error == HTTP1Error(kind, offset: headBytes + offset))
        #expect(ReferenceChunks.decode(octets(text)) == .invalid)
    }

    @Test("every octet in an extension is taken or refused as the grammar says", arguments: 0...255)
    func extensionOctets(octet: Int) {
        for text in [
            "1;a\(scalar(octet))\r\nx\r\n0\r\n\r\n", "1;a=\"\(scalar(octet))\"\r\nx\r\n0\r\n\r\n",
            "1\(scalar(octet))\r\nx\r\n0\r\n\r\n", "1;a=b\(scalar(octet))\r\nx\r\n0\r\n\r\n",
            // Where the octet ended the line, this would be a whole body.
            "1;a\(scalar(octet))x\r\n0\r\n\r\n",
        ] {
            let outcome = responses(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text,
                cutEvery: 17
            )
            switch ReferenceChunks.decode(octets(text)) {
            case .complete(let decoded, _): #expect(outcome.isComplete && outcome.body == decoded)
            case .incomplete: #expect(!outcome.isComplete && outcome.error == nil)
            case .invalid: #expect(outcome.error != nil)
            }
        }
    }

    @Test("the connection ending anywhere before the last octet is a truncated body")
    func truncated() {
        let text = "5;x=y\r\nhello\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n"
        for length in 0..<text.utf8.count {
            let head = octets("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let cut = feedResponses(head + octets(text).prefix(length), answering: [plain])
            #expect(!cut.isComplete && cut.error == nil)
            #expect(cut.finishError?.kind == .truncatedBody(expected: nil, received: UInt64(cut.body.count)))
        }
    }

    @Test("trailers are kept apart from the fields of the head and change nothing about the message")
    func trailers() throws {
        let names = ["Content-Length", "Transfer-Encoding", "Set-Cookie", "Authorization", "Connection"]
        let lines = names.map { "\($0): close\r\n" }.joined()
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\(lines)\r\n"
        let next = "HTTP/1.1 204 OK\r\n\r\n"
        let outcome = responses(text + next, answering: [plain, plain])
        #expect(outcome.events.filter { $0 == .end }.count == 2 && outcome.surplus == 0)
        let input = octets(text)
        var parser = ResponseParser()
        var head = ResponseHead()
        parser.begin(answering: plain)
        let step = try parser.parse(input.span, into: &head)
        #expect(try parser.parse(input.span.extracting(step.consumed..<input.count), into: &head).event == .end)
        #expect(parser.trailers.count == 5 && parser.trailers["set-cookie"] == "close")
        #expect(head.fields.count == 1 && parser.persistence == .keepAlive)
    }

    @Test("chunk data is handed out as slices of the input, one for a chunk that lies whole in it")
    func slices() throws {
        let input = octets("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n")
        var parser = ResponseParser()
        var head = ResponseHead()
        parser.begin(answering: plain)
        var position = try parser.parse(input.span, into: &head).consumed
        let first = try parser.parse(input.span.extracting(position..<input.count), into: &head)
        #expect(first == ParseStep(consumed: 10, event: .body(3..<8)))
        position += first.consumed
        let second = try parser.parse(input.span.extracting(position..<input.count), into: &head)
        #expect(second == ParseStep(consumed: 8, event: .body(3..<6)))
    }
}
