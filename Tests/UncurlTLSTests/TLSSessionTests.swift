import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("TLSSession", .ownThread)
struct TLSSessionTests {
    private static let head = [UInt8]("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    private func fixture(_ version: TLSVersion) throws -> TLSFixture {
        try TLSFixture(server: { $0.maximumVersion = version })
    }

    @Test(
        "bytes cross both ways, however the ciphertext is cut",
        arguments: [1, 2, 3, 5, 7, 1000, Int.max],
        [TLSVersion.v1_2, .v1_3]
    )
    func pieces(piece: Int, version: TLSVersion) throws {
        let pair = try fixture(version).pair()
        pair.piece = piece
        try pair.run()
        let content = [UInt8](repeating: 7, count: piece < 10 ? 17_000 : 40_000)
        #expect(try pair.write(fromClient: Self.head, content) == Self.head.count + content.count)
        #expect(try pair.write(fromServer: content) == content.count)
        try pair.run()
        #expect(pair.serverReceived == Self.head + content)
        #expect(pair.clientReceived == content)
        pair.closeClient()
        try pair.run()
        #expect(pair.serverClosed)
        let info = try #require(pair.client.info)
        #expect(info.version == version)
        #expect(info.applicationProtocol == "http/1.1")
        #expect(!info.isResumed)
        #expect(info.cipherSuite.hasPrefix("TLS_"))
        #expect(info.chain?.leafSHA256.count == 32)
    }

    @Test("a head and a small body share one record")
    func oneRecord() throws {
        let pair = try TLSFixture().connected()
        _ = try pair.write(fromClient: Self.head, [UInt8](repeating: 1, count: 100))
        // RFC 8446 §5.2: 5 bytes of header, the content, its type, 16 of authentication.
        #expect(pair.toServer.count == 5 + Self.head.count + 100 + 1 + 16)
    }

    @Test(
        "every length of head and body arrives whole, about the size of a record",
        arguments: [16_383, 16_384, 16_385]
    )
    func recordBorders(headSize: Int) throws {
        let pair = try TLSFixture().connected()
        for bodySize in [0, 1, 16_384, 50_000] {
            pair.serverReceived = []
            let sent = (0..<(headSize + bodySize)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let (first, second) = (Array(sent[..<headSize]), Array(sent[headSize...]))
            #expect(try pair.write(fromClient: first, second) == sent.count)
            try pair.run()
            #expect(pair.serverReceived == sent)
        }
    }

    @Test("nothing hides: input is asked for only once all of it is taken, however small the reader's buffer")
    func noHiddenData() throws {
        let pair = try TLSFixture().connected()
        let content = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        _ = try pair.write(fromServer: content)
        let input = pair.toClient
        pair.toClient = []
        var (offset, received) = (0, [UInt8]())
        var buffer = [UInt8](repeating: 0, count: 777)
        var reads = 0
        reading: while true {
            let read = try buffer.withUnsafeMutableBufferPointer {
                try pair.client.read(input.span, from: &offset, into: $0)
            }
            switch read {
            case .bytes(let count): received += buffer[..<count]
            case .needsInput: break reading
            case .closed: Issue.record("closed")
            }
            reads += 1
            #expect(reads < 100)
        }
        #expect(offset == input.count)
        #expect(received == content)
    }

    @Test("what follows the handshake in the same bytes is left for the read")
    func dataBehindHandshake() throws {
        let pair = try TLSFixture(server: { $0.tickets = 0 }).pair()
        try pair.stepClient()
        try pair.stepServer()
        try pair.stepClient()
        _ = try pair.write(fromClient: Self.head)
        try pair.stepServer()
        #expect(pair.serverReceived == Self.head)
    }

    @Test("a context without SNI for addresses, with it for names")
    func indication() throws {
        let fixture = try TLSFixture()
        for (name, indicated) in [("localhost", "localhost"), ("LOCALHOST.", "localhost"), ("127.0.0.1", nil)] {
            let pair = try fixture.pair(name: name)
            try pair.run()
            #expect(pair.server.indicatedName == indicated)
        }
    }

    @Test("close_notify ends a stream; the transport's end alone cuts it off")
    func ends() throws {
        let pair = try TLSFixture().connected()
        #expect(pair.client.inputEnded() == .truncated)
        pair.closeServer()
        try pair.run()
        #expect(pair.clientClosed)
        #expect(pair.client.inputEnded() == nil)
        // The other half still works (RFC 8446 §6.1).
        #expect(try pair.write(fromClient: Self.head) == Self.head.count)
        pair.closeClient()
        #expect(throws: TLSError.closed) { try pair.write(fromClient: Self.head) }
    }

    @Test("abandoned sessions say nothing")
    func abandoned() throws {
        let pair = try TLSFixture().connected()
        pair.client.abandon()
        pair.closeClient()
        #expect(pair.toServer.isEmpty)
    }

    @Test("an end inside the handshake is one")
    func endInHandshake() throws {
        let pair = try TLSFixture().pair()
        try pair.stepClient()
        #expect(pair.client.inputEnded() == .closedInHandshake)
        #expect(throws: TLSError.closedInHandshake) { try pair.stepClient() }
    }

    @Test("parked sessions give their buffers back and take up again")
    func parking() throws {
        let pair = try TLSFixture().connected()
        for _ in 0..<3 {
            pair.client.releaseBuffers()
            pair.server.releaseBuffers()
            _ = try pair.write(fromClient: Self.head)
            _ = try pair.write(fromServer: Self.head)
            // Half a record is under way: nothing may be given back.
            let rest = pair.toClient.suffix(10)
            pair.toClient.removeLast(10)
            try pair.stepClient()
            pair.client.releaseBuffers()
            pair.toClient += rest
            try pair.run()
        }
        #expect(pair.clientReceived.count == 3 * Self.head.count)
        #expect(pair.serverReceived.count == 3 * Self.head.count)
    }

    @Test("a server that selects h2 is refused; one that answers no ALPN speaks HTTP/1.1")
    func applicationProtocols() throws {
        let wrong = try TLSFixture(server: { ($0.applicationProtocol, $0.answersAnyOffer) = ("h2", true) }).pair()
        #expect(throws: TLSError.unexpectedApplicationProtocol("h2")) { try wrong.run() }
        let silent = try TLSFixture(server: { $0.applicationProtocol = nil }).connected()
        #expect(silent.client.info?.applicationProtocol == nil)
        #expect(silent.client.info != nil)
    }

    @Test("no version in common has a name on both sides")
    func versions() throws {
        let pair = try TLSFixture(client: { $0.minimumVersion = .v1_3 }, server: { $0.maximumVersion = .v1_2 }).pair()
        try pair.stepClient()
        #expect(throws: TLSError.unsupportedVersion) { try pair.stepServer() }
        #expect(throws: TLSError.alert(TLSAlert(code: 70))) { try pair.stepClient() }
    }

    @Test("no cipher in common has a name on both sides")
    func ciphers() throws {
        let pair = try TLSFixture(
            client: {
                $0.maximumVersion = .v1_2
                $0.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"
            },
            server: { $0.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384" }
        ).pair()
        try pair.stepClient()
        #expect(throws: TLSError.noSharedCipher) { try pair.stepServer() }
        #expect(throws: TLSError.alert(TLSAlert(code: 40))) { try pair.stepClient() }
    }

    @Test("what OpenSSL does not understand is refused when the context is made")
    func configuration() throws {
        #expect(throws: TLSError.configuration("ciphers no-such-cipher")) {
            try TLSFixture(client: { $0.ciphers = "no-such-cipher" })
        }
        #expect(throws: TLSError.self) {
            try TLSFixture(client: { ($0.minimumVersion, $0.maximumVersion) = (.v1_3, .v1_2) })
        }
    }
}
