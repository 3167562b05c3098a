import Testing

@testable import UncurlWebSocket

@Suite struct ServerHandshakeTests {
    private func answer(_ client: ClientHandshake, deflates: Bool = true) throws -> ServerHandshake {
        try ServerHandshake(values(client.fields), deflates: deflates) { $0 != "unspoken" }
    }

    private func values(_ fields: [(name: String, value: String)]) -> (String) -> [String] {
        { name in fields.filter { $0.name == name }.map(\.value) }
    }

    @Test("a client of ours and a server of ours come to the same agreement")
    func agreement() throws {
        for protocols in [[], ["unspoken"], ["unspoken", "second", "third"]] {
            for deflate in [nil, DeflateOffer()] {
                for deflates in [false, true] {
                    let client = try ClientHandshake(protocols: protocols, deflate: deflate)
                    let server = try answer(client, deflates: deflates)
                    #expect(try client.check(values(server.fields)) == server.agreement)
                    #expect(server.agreement.subprotocol == (protocols.count == 3 ? "second" : nil))
                    #expect((server.agreement.deflate != nil) == (deflates && deflate != nil))
                }
            }
        }
    }

    @Test("the first offer that can be kept to is taken")
    func offers() throws {
        let fields =
            try ClientHandshake(deflate: nil).fields + [
                ("Sec-WebSocket-Extensions", "foo, permessage-deflate; server_max_window_bits=8"),
                ("Sec-WebSocket-Extensions", "permessage-deflate; server_max_window_bits=12, permessage-deflate"),
            ]
        let server = try ServerHandshake(values(fields), deflates: true) { _ in false }
        #expect(server.agreement.deflate?.serverWindowBits == 12)
        #expect(server.fields.last?.value == "permessage-deflate; server_max_window_bits=12")
    }

    @Test("another version, or a key that is none, is refused")
    func refused() {
        let good = [("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]
        let bad: [[(name: String, value: String)]] = [
            [], [good[0]], [good[1]], [("Sec-WebSocket-Version", "8"), good[1]], good + [good[1]],
            [good[0], ("Sec-WebSocket-Key", "short==")], [good[0], ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ*=")],
        ]
        for fields in bad {
            #expect(throws: HandshakeError.notAskedFor) {
                try ServerHandshake(values(fields), deflates: true) { _ in true }
            }
        }
    }
}
