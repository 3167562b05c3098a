import Testing
import UncurlHTTP1

@Suite struct MessageSerializerTests {
    private func request(_ lines: [(String, String)], method: String = "GET", target: String = "/") throws -> [UInt8] {
        var fields = HTTPFields()
        for (name, value) in lines { try fields.append(name, value) }
        var bytes: [UInt8] = []
        try MessageSerializer.append(RequestHead(method: method, target: target, fields: fields), to: &bytes)
        return bytes
    }

    @Test("a request head is written octet for octet")
    func requestHead() throws {
        let bytes = try request([("Host", "a.b"), ("X-Empty", ""), ("Y", " padded\t")], method: "M-X", target: "/p?q")
        #expect(bytes == octets("M-X /p?q HTTP/1.1\r\nHost: a.b\r\nX-Empty: \r\nY: padded\r\n\r\n"))
    }

    @Test("a response head is written octet for octet")
    func responseHead() throws {
        var fields = HTTPFields()
        try fields.append("Content-Length", "0")
        var bytes = octets("before")
        try MessageSerializer.append(ResponseHead(status: 404, reason: "Not Found", fields: fields), to: &bytes)
        #expect(bytes == octets("beforeHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
    }

    private static let poison = ["\r", "\n", "\r\n", "\0", "\u{7F}", "\u{1}", "\u{B}"]

    @Test("nothing that could end a line or a message is taken by any setter", arguments: poison)
    func injection(poison: String) {
        for text in [poison, "a\(poison)b", "\(poison)b: c", "a\(poison)", "long enough to fill a block\(poison)X: y"] {
            var fields = HTTPFields()
            #expect(throws: HTTP1Error.self) { try fields.append("N", "v" + text + "v") }
            #expect(throws: HTTP1Error.self) { try fields.append(text, "v") }
            #expect(throws: HTTP1Error.self) { try fields.replace("N", "v" + text + "v") }
            #expect(fields.isEmpty)
            #expect(throws: HTTP1Error.self) { try RequestHead(method: text, target: "/") }
            #expect(throws: HTTP1Error.self) { try RequestHead(method: "GET", target: "/" + text) }
            #expect(throws: HTTP1Error.self) { try ResponseHead(status: 200, reason: text) }
        }
    }

    @Test(
        "a scalar whose low octet is a control is written as UTF-8, never cut to one octet",
        arguments: [
            "\u{010D}\u{010A}", "\u{2028}", "\u{560D}\u{560A}", "\u{FFFD}",
        ]
    )
    func truncatedScalars(text: String) throws {
        let bytes = try request([("Host", "a"), ("X", "a\(text)b")])
        #expect(!bytes.dropLast(4).suffix(20).contains(13) || bytes.filter { $0 == 13 }.count == 4)
        #expect(bytes.filter { $0 == 13 }.count == 4 && bytes.filter { $0 == 10 }.count == 4)
        #expect(throws: HTTP1Error.self) { try request([("Host", "a")], target: "/\(text)") }
        #expect(throws: HTTP1Error.self) { try request([("Host", "a")], method: "G\(text)") }
        #expect(throws: HTTP1Error.self) { try request([("Host", "a"), (text, "b")]) }
    }

    @Test(
        "methods and targets that are none are refused",
        arguments: [
            ("", "/"), ("G T", "/"), ("GET", ""), ("GET", "/a b"), ("GET", "a"), ("GET", "/#f"), ("CONNECT", "a"),
            ("GET", "*"),
        ]
    )
    func startLines(method: String, target: String) {
        let error = #expect(throws: HTTP1Error.self) { try RequestHead(method: method, target: target) }
        #expect(error?.side == .local)
    }

    @Test(
        "a request is not written without exactly one valid Host, or with framing that can be read in two ways",
        arguments: [
            ([], HTTP1Error.Kind.missingHost),
            ([("Host", "a"), ("HOST", "a")], .repeatedHost),
            ([("Host", "a/b")], .invalidHost),
            (
                [("Host", "a"), ("Content-Length", "1"), ("Transfer-Encoding", "chunked")],
                .contentLengthWithTransferEncoding
            ),
            ([("Host", "a"), ("Content-Length", "1"), ("content-length", "2")], .repeatedContentLength),
            ([("Host", "a"), ("Content-Length", "+1")], .invalidContentLength),
            ([("Host", "a"), ("Transfer-Encoding", "gzip")], .chunkedNotFinal),
            ([("Host", "a"), ("Transfer-Encoding", "chunked, chunked")], .chunkedRepeated),
        ]
    )
    func framing(lines: [(String, String)], kind: HTTP1Error.Kind) {
        let error = #expect(throws: HTTP1Error.self) { try request(lines) }
        #expect(error?.kind == kind && error?.side == .local)
    }

    @Test("fields put into a head after it was made are checked when it is written")
    func changedLater() throws {
        var fields = HTTPFields()
        try fields.append("Host", "a")
        var head = try RequestHead(method: "GET", target: "/path", fields: fields)
        try head.fields.append("Content-Length", "1")
        try head.fields.append("Transfer-Encoding", "chunked")
        var bytes = octets("kept")
        #expect(throws: HTTP1Error.self) { try MessageSerializer.append(head, to: &bytes) }
        #expect(bytes == octets("kept"))
        head.fields.remove(name: "content-length")
        try MessageSerializer.append(head, to: &bytes)
        #expect(bytes == octets("keptGET /path HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"))
    }

    @Test("1xx and 204 announce no body, HTTP/1.0 no transfer coding")
    func statuses() throws {
        var length = HTTPFields()
        try length.append("Content-Length", "0")
        var bytes: [UInt8] = []
        for status in [100, 199, 204] {
            let error = #expect(throws: HTTP1Error.self) {
                try MessageSerializer.append(ResponseHead(status: status, fields: length), to: &bytes)
            }
            #expect(error?.kind == .framingForbiddenByStatus)
        }
        var coding = HTTPFields()
        try coding.append("Transfer-Encoding", "chunked")
        var head = try ResponseHead(status: 200, fields: coding)
        head.version = .http10
        #expect(throws: HTTP1Error.self) { try MessageSerializer.append(head, to: &bytes) }
        for status in [0, 99, 1000, -1] {
            #expect(throws: HTTP1Error.self) { try ResponseHead(status: status) }
        }
        #expect(bytes.isEmpty)
    }

    @Test("an empty chunk is never written before the end")
    func chunks() throws {
        var bytes: [UInt8] = []
        MessageSerializer.appendChunk(Span<UInt8>(), to: &bytes)
        MessageSerializer.appendChunkHeader(count: 0, to: &bytes)
        MessageSerializer.appendChunkHeader(count: -5, to: &bytes)
        #expect(bytes.isEmpty)
        let data = octets("0123456789abcdefg")
        MessageSerializer.appendChunk(data.span, to: &bytes)
        try MessageSerializer.appendLastChunk(to: &bytes)
        #expect(bytes == octets("11\r\n0123456789abcdefg\r\n0\r\n\r\n"))
    }

    @Test(
        "a chunk size is written in hexadecimal without padding",
        arguments: [
            (1, "1"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000"), (Int.max, "7fffffffffffffff"),
        ]
    )
    func chunkSizes(count: Int, text: String) {
        var bytes: [UInt8] = []
        MessageSerializer.appendChunkHeader(count: count, to: &bytes)
        #expect(bytes == octets(text + "\r\n"))
    }

    @Test(
        "a field that frames, routes or authenticates is no trailer",
        arguments: [
            "Content-Length", "transfer-encoding", "Host", "Set-Cookie", "Authorization", "Trailer", "Connection",
        ]
    )
    func trailers(name: String) throws {
        var trailers = HTTPFields()
        try trailers.append(name, "1")
        var bytes: [UInt8] = []
        let error = #expect(throws: HTTP1Error.self) {
            try MessageSerializer.appendLastChunk(trailers: trailers, to: &bytes)
        }
        #expect(error?.kind == .forbiddenTrailer && bytes.isEmpty)
    }

    @Test("numbers are written in decimal", arguments: [0, 9, 10, 1_234_567_890, UInt64.max])
    func decimal(number: UInt64) {
        var bytes: [UInt8] = []
        MessageSerializer.appendDecimal(number, &bytes)
        #expect(bytes == octets("\(number)"))
    }
}
