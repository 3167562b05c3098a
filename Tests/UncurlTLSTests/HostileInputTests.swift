import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// Whatever comes instead of TLS, and TLS with any byte changed: a named error or a wait for more, never a trap, never
/// wrong data.
@Suite("Hostile input", .ownThread)
struct HostileInputTests {
    private static let head = [UInt8]("GET / HTTP/1.1\r\n\r\n".utf8)

    /// What the server's first answer is, and a client that waits for it.
    private func greeted(_ fixture: TLSFixture) throws -> MemoryPair {
        let pair = try fixture.pair()
        try pair.stepClient()
        try pair.stepServer()
        return pair
    }

    /// Nothing more comes: how the client ends.
    private func outcome(_ pair: MemoryPair) -> TLSError? {
        do {
            try pair.stepClient()
            return pair.client.inputEnded()
        } catch let error as TLSError {
            // Said once, said for good.
            #expect(throws: error) { try pair.stepClient() }
            return error
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test("a plain HTTP answer is recognised, whole or byte by byte", arguments: [1, 5, Int.max])
    func plainHTTP(piece: Int) throws {
        let pair = try TLSFixture().pair()
        pair.piece = piece
        pair.toClient = Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
        #expect(throws: TLSError.plainHTTP) { while true { try pair.stepClient() } }
        #expect("\(TLSError.plainHTTP)".contains("plain HTTP"))
    }

    @Test("a plain HTTP answer too short for a record is recognised at its end")
    func shortHTTP() throws {
        let pair = try TLSFixture().pair()
        pair.toClient = Array("HTTP".utf8)
        #expect(outcome(pair) == .notTLS(firstBytes: Array("HTTP".utf8)))
        let longer = try TLSFixture().pair()
        longer.toClient = Array("HTTP/".utf8)
        #expect(outcome(longer) == .plainHTTP)
    }

    @Test("a plain HTTP request at a TLS server is recognised")
    func plainRequest() throws {
        let pair = try TLSFixture().pair()
        pair.toServer = Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        #expect(throws: TLSError.plainHTTP) { try pair.stepServer() }
    }

    @Test(
        "what does not begin like TLS is shown",
        arguments: ["SSH-2.0-OpenSSH_9", "220 mail.example ESMTP", "\r\n\r\n\r\n\r\n"]
    )
    func otherProtocols(greeting: String) throws {
        let pair = try TLSFixture().pair()
        pair.toClient = Array(greeting.utf8)
        #expect(outcome(pair) == .notTLS(firstBytes: Array(greeting.utf8.prefix(8))))
    }

    @Test(
        "garbage from any byte of the server's first flight on is a named error",
        arguments: [TLSVersion.v1_2, .v1_3]
    )
    func garbage(version: TLSVersion) throws {
        let fixture = try TLSFixture(server: { $0.maximumVersion = version })
        let flight = try greeted(fixture).toClient.count
        var random = SplitMix(seed: 1)
        for offset in 0..<flight {
            let pair = try greeted(fixture)
            let kept = min(offset, pair.toClient.count)
            pair.toClient.removeLast(pair.toClient.count - kept)
            for _ in 0..<64 { pair.toClient.append(UInt8(truncatingIfNeeded: random.next())) }
            #expect(outcome(pair) != nil, "\(offset)")
        }
    }

    @Test("any cut of the server's first flight is an end inside the handshake")
    func cuts() throws {
        let fixture = try TLSFixture()
        let flight = try greeted(fixture).toClient.count
        for offset in stride(from: 0, to: flight - 8, by: 7) {
            let pair = try greeted(fixture)
            pair.toClient.removeLast(pair.toClient.count - offset)
            #expect(outcome(pair) == .closedInHandshake, "\(offset)")
        }
    }

    /// The messages of the server's first flight, as far as they are not encrypted.
    private func messages(_ flight: [UInt8]) -> [[UInt8]] {
        var (octets, messages): ([UInt8], [[UInt8]]) = ([], [])
        var rest = flight[...]
        while rest.count > 5, rest[rest.startIndex] == 22 {
            let length = Int(rest[rest.startIndex + 3]) << 8 + Int(rest[rest.startIndex + 4])
            octets += rest.dropFirst(5).prefix(length)
            rest = rest.dropFirst(5 + length)
        }
        while octets.count >= 4 {
            let length = 4 + Int(octets[1]) << 16 + Int(octets[2]) << 8 + Int(octets[3])
            messages.append(Array(octets.prefix(length)))
            octets = Array(octets.dropFirst(length))
        }
        return messages
    }

    private func record(_ content: [UInt8]) -> [UInt8] {
        [22, 3, 3, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    @Test("extensions that must be encrypted are refused in the record of the ServerHello")
    func plaintextExtensions() throws {
        let fixture = try TLSFixture()
        for extensions: [UInt8] in [[], [8, 0, 0, 2, 0, 0]] {
            let pair = try greeted(fixture)
            let hello = try #require(messages(pair.toClient).first)
            pair.toClient = record(hello + extensions)
            let outcome = outcome(pair)
            if extensions.isEmpty {
                #expect(outcome == .closedInHandshake)
            } else {
                #expect(outcome == .protocolViolation("not on record boundary"))
            }
        }
    }

    @Test("the first octets of a certificate message of a mebibyte end the handshake")
    func longCertificate() throws {
        let fixture = try TLSFixture(server: { $0.maximumVersion = .v1_2 })
        for length: [UInt8] in [[0, 0x80, 0], [0x10, 0, 0]] {
            let pair = try greeted(fixture)
            let hello = try #require(messages(pair.toClient).first)
            pair.toClient = record(hello) + record([11] + length + [UInt8](repeating: 0, count: 64))
            let outcome = outcome(pair)
            if length[0] == 0 {
                #expect(outcome == .closedInHandshake)
            } else {
                #expect(outcome == .protocolViolation("excessive message size"))
            }
        }
    }

    @Test("a changed byte in the handshake ends it or changes nothing", arguments: [TLSVersion.v1_2, .v1_3])
    func corruptHandshake(version: TLSVersion) throws {
        let fixture = try TLSFixture(server: { $0.maximumVersion = version })
        let flight = try greeted(fixture).toClient.count
        var random = SplitMix(seed: 2)
        var failures = 0
        for offset in 0..<flight {
            let pair = try greeted(fixture)
            guard offset < pair.toClient.count else { continue }
            pair.toClient[offset] ^= UInt8(1 << random.below(8))
            do {
                try pair.run()
                guard pair.client.info != nil, pair.server.info != nil else {
                    failures += 1
                    #expect(pair.client.inputEnded() != nil)
                    continue
                }
                _ = try pair.write(fromServer: Self.head)
                try pair.run()
                #expect(pair.clientReceived == Self.head)
            } catch is TLSError {
                failures += 1
            }
        }
        // Only bytes that nobody reads may be changed unseen: a version in the header of a record that is not
        // encrypted.
        #expect(failures >= flight - 16)
    }

    @Test("a changed byte in a record of data never gives data", arguments: [TLSVersion.v1_2, .v1_3])
    func corruptData(version: TLSVersion) throws {
        let fixture = try TLSFixture(server: { $0.maximumVersion = version })
        let pair = try fixture.connected()
        _ = try pair.write(fromServer: Self.head)
        let size = pair.toClient.count
        var random = SplitMix(seed: 3)
        for offset in 0..<size {
            let pair = try fixture.connected()
            _ = try pair.write(fromServer: Self.head)
            pair.toClient[offset] ^= UInt8(1 << random.below(8))
            do {
                try pair.stepClient()
                // A length grown: the rest is waited for, and its absence is a cut.
                #expect(pair.client.inputEnded() == .truncated)
            } catch is TLSError {}
            #expect(pair.clientReceived.isEmpty, "\(offset)")
        }
    }

    @Test("data before a damaged record is given, the damage told after it")
    func dataThenDamage() throws {
        let pair = try TLSFixture().connected()
        _ = try pair.write(fromServer: Self.head)
        let size = pair.toClient.count
        _ = try pair.write(fromServer: Self.head)
        pair.toClient[size + 10] ^= 1
        #expect(throws: TLSError.corruptRecord) { try pair.stepClient() }
        #expect(pair.clientReceived == Self.head)
        // The alert that says so is on its way, and nothing after it.
        #expect(!pair.toServer.isEmpty)
        #expect(throws: TLSError.corruptRecord) { try pair.write(fromClient: Self.head) }
        #expect(throws: TLSError.alert(TLSAlert(code: 20))) { try pair.stepServer() }
    }

    @Test("garbage on an open connection is a named error")
    func garbageAfterHandshake() throws {
        var random = SplitMix(seed: 4)
        for _ in 0..<50 {
            let pair = try TLSFixture().connected()
            pair.toClient = (0..<100).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(outcome(pair) != nil)
        }
    }

    @Test("an endless demand for new handshakes ends, and each before it is declined")
    func helloRequestFlood() throws {
        let pair = try TLSFixture(server: { $0.maximumVersion = .v1_2 }).connected()
        #expect(throws: TLSError.tooManyHelloRequests) {
            for _ in 0..<1000 {
                #expect(pair.sendHelloRequest())
                try pair.stepClient()
            }
        }
        #expect("\(TLSError.tooManyHelloRequests)" == "the peer asks for new handshakes without end")
        let fair = try TLSFixture(server: { $0.maximumVersion = .v1_2 }).connected()
        for _ in 0..<1000 {
            #expect(fair.sendHelloRequest())
            _ = try fair.write(fromServer: [1])
            try fair.stepClient()
        }
        #expect(fair.clientReceived.count == 1000)
    }

    @Test("a close_notify inside the handshake is told as that", arguments: TLSVersion.allCases)
    func closeNotify(version: TLSVersion) throws {
        let fixture = try TLSFixture(server: { $0.maximumVersion = version })
        // In place of the server's first flight, and behind a part of it that is a whole record.
        for isEarly in [true, false] {
            let pair = try greeted(fixture)
            let record = 5 + Int(pair.toClient[3]) << 8 + Int(pair.toClient[4])
            pair.toClient.removeLast(pair.toClient.count - (isEarly ? 0 : record))
            pair.toClient += [21, 3, 3, 0, 2, 1, 0]
            // TLS 1.3 has keys by then, and takes no alert in the clear.
            let isPlain = isEarly || version == .v1_2
            let error = outcome(pair)
            #expect((error == .closeNotifyInHandshake) == isPlain, "\(String(describing: error))")
            #expect(error.map { !"\($0)".contains("SSL_get_error") } == true)
        }
    }

    @Test("a handshake that was turned into an older version on its way is told as that")
    func downgrade() throws {
        let pair = try TLSFixture().pair()
        try pair.stepClient()
        // supported_versions, of TLS 1.3 and 1.2 (RFC 8446 §4.2.1), becomes an extension that means nothing.
        let versions: [UInt8] = [0x00, 0x2B, 0x00, 0x05, 0x04, 0x03, 0x04, 0x03, 0x03]
        let place = try #require(pair.toServer.firstRange(of: versions)?.lowerBound)
        (pair.toServer[place], pair.toServer[place + 1]) = (0xFA, 0xFA)
        try pair.stepServer()
        #expect(throws: TLSError.downgraded) { try pair.stepClient() }
        #expect("\(TLSError.downgraded)".contains("an older version of TLS than both sides speak"))
    }

    @Test("an endless demand for new keys ends; with data between the demands it goes on")
    func keyUpdateFlood() throws {
        let pair = try TLSFixture().connected()
        #expect(throws: TLSError.tooManyKeyUpdates) {
            for _ in 0..<1000 {
                #expect(pair.updateServerKeys(askingPeer: true))
                try pair.stepClient()
            }
        }
        let fair = try TLSFixture().connected()
        for _ in 0..<1000 {
            #expect(fair.updateServerKeys(askingPeer: true))
            _ = try fair.write(fromServer: [1])
            try fair.run()
        }
        #expect(fair.clientReceived.count == 1000)
    }
}
