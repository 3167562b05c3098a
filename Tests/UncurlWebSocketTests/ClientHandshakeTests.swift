import Testing

@testable import UncurlWebSocket

@Suite struct ClientHandshakeTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func check(
        _ fields: [String: [String]],
        protocols: [String] = ["chat", "superchat"],
        deflate: DeflateOffer? = DeflateOffer()
    ) throws -> Agreement {
        let handshake = try ClientHandshake(key: Self.key, protocols, deflate)
        return try handshake.check { fields[$0] ?? [] }
    }

    @Test("RFC 6455's own example is accepted")
    func example() throws {
        let agreement = try check(["Sec-WebSocket-Accept": [Self.accept], "Sec-WebSocket-Protocol": ["chat"]])
        #expect(agreement == Agreement(subprotocol: "chat"))
    }

    @Test("version, key, subprotocols and the offer of compression are sent")
    func fields() throws {
        let fields = try ClientHandshake(key: Self.key, ["a", "b"], DeflateOffer()).fields
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(Self.key)", "Sec-WebSocket-Protocol: a, b",
                "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
            ]
        )
        #expect(try ClientHandshake(key: Self.key, [], nil).fields.count == 2)
    }

    @Test("each handshake has a key of its own, the base64 of 16 octets")
    func keys() throws {
        let keys = try (0..<100).map { _ in try ClientHandshake().fields[1].value }
        #expect(Set(keys).count == 100)
        #expect(keys.allSatisfy { $0.utf8.count == 24 && $0.hasSuffix("==") })
    }

    @Test("a proof that is missing, wrong or given twice fails")
    func proof() {
        for values in [[], ["x"], [Self.accept.lowercased()], [Self.accept, Self.accept], [Self.accept + "="]] {
            #expect(throws: HandshakeError.wrongAccept) { try check(["Sec-WebSocket-Accept": values]) }
        }
    }

    @Test("a subprotocol that was not offered fails, and so do two of them")
    func subprotocols() {
        for values in [["other"], ["Chat"], ["chat", "superchat"], ["chat, superchat"], [""]] {
            #expect(throws: HandshakeError.unofferedProtocol(values.joined(separator: ", "))) {
                try check(["Sec-WebSocket-Accept": [Self.accept], "Sec-WebSocket-Protocol": values])
            }
        }
        #expect(throws: HandshakeError.unofferedProtocol("chat")) {
            try check(["Sec-WebSocket-Accept": [Self.accept], "Sec-WebSocket-Protocol": ["chat"]], protocols: [])
        }
    }

    @Test("an extension that was not offered, or two, fails")
    func extensions() throws {
        let fields = { (value: String) in
            ["Sec-WebSocket-Accept": [Self.accept], "Sec-WebSocket-Extensions": [value]]
        }
        #expect(try check(fields("permessage-deflate")).deflate == DeflateAgreement())
        #expect(try check(fields("")).deflate == nil)
        for text in ["x-webkit-deflate-frame", "permessage-deflate, permessage-deflate", "permessage-deflate; a", ";"] {
            #expect(throws: HandshakeError.unacceptableExtension(text)) { try check(fields(text)) }
        }
        #expect(throws: HandshakeError.unacceptableExtension("permessage-deflate")) {
            try check(fields("permessage-deflate"), deflate: nil)
        }
    }

    @Test(
        "what is no token, or stands there twice, cannot be offered",
        arguments: [[""], ["a b"], ["a,b"], ["a", "a"], ["é"]]
    )
    func offers(names: [String]) {
        #expect(throws: HandshakeError.invalidProtocol(names.last ?? "")) { try ClientHandshake(protocols: names) }
    }

    @Test("a key or a subprotocol with combining marks is another one")
    func combiningMarks() {
        let run = String(repeating: "\u{301}\u{316}", count: 1_000)
        for accept in [Self.accept + "\u{301}", run] {
            #expect(throws: HandshakeError.wrongAccept) { try check(["Sec-WebSocket-Accept": [accept]]) }
        }
        for name in ["chat\u{301}", run] {
            #expect(throws: HandshakeError.unofferedProtocol(name)) {
                try check(["Sec-WebSocket-Accept": [Self.accept], "Sec-WebSocket-Protocol": [name]])
            }
        }
    }
}
