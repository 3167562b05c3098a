import TestSupport
import Testing
import UncurlHTTP1
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine
@testable import UncurlWebSocket

/// Our client against a server that is not ours: Python's `websockets`.
@Suite("WebSocket servers of others", .ownThread, .serialized, .timeLimit(.minutes(5)))
struct WebSocketPeerTests {
    private static let messages: [WebSocketMessage] = [
        .text(""), .text("plain"), .text("κόσμε 😀"), .binary([]), .binary([0, 255, 1]),
        .text(String(repeating: "compressible ", count: 50)), .binary([UInt8](repeating: 7, count: 125)),
        .binary([UInt8](repeating: 8, count: 126)),
        .binary((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }),
    ]

    private func open(
        _ peer: Peer,
        _ path: String,
        _ handshake: ClientHandshake,
        _ ear: Ear = Ear()
    ) async throws -> Talk {
        var options = WebSocketConnection.Options()
        options.maximumMessageSize = 16 << 20
        return try await Talk.open(try EngineHarness(), "ws://127.0.0.1:\(peer.port)\(path)", handshake, ear, options)
    }

    private func echo(_ talk: Talk) async {
        for message in Self.messages { await talk.send(message) }
        await talk.ear.messages.reaches(Self.messages.count)
        #expect(talk.ear.heard.messages == Self.messages)
        await talk.closes()
        #expect(talk.ear.heard.endings == [.success(CloseReason(1000) ?? .none)])
    }

    @Test("text and binary messages of every kind come back, whole and in fragments, compressed and not")
    func echoes() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        for path in ["/echo", "/pieces"] {
            for deflate in [nil, DeflateOffer()] {
                let talk = try await open(peer, path, ClientHandshake(deflate: deflate))
                #expect((talk.agreement.deflate != nil) == (deflate != nil))
                await echo(talk)
            }
        }
    }

    @Test(
        "every way of agreeing on compression works",
        arguments: [
            "server_no_context_takeover=True", "client_no_context_takeover=True", "server_max_window_bits=9",
            "client_max_window_bits=9",
            "server_no_context_takeover=True, client_no_context_takeover=True, "
                + "server_max_window_bits=10, client_max_window_bits=11",
        ]
    )
    func compression(parameters: String) async throws {
        let peer = try await WebSocketPeer.start(extensions: "[ServerPerMessageDeflateFactory(\(parameters))]")
        defer { peer.stop() }
        let talk = try await open(peer, "/echo", ClientHandshake())
        #expect(talk.agreement.deflate != DeflateAgreement())
        await echo(talk)
    }

    @Test("what our offer asks for is granted and kept")
    func wishes() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        var offer = DeflateOffer()
        (offer.serverForgets, offer.clientForgets, offer.serverWindowBits) = (true, true, 10)
        let talk = try await open(peer, "/echo", ClientHandshake(deflate: offer))
        let agreement = try #require(talk.agreement.deflate)
        #expect(agreement.serverForgets && agreement.clientForgets && agreement.serverWindowBits == 10)
        await echo(talk)
    }

    @Test("a server without compression is spoken to without it")
    func plain() async throws {
        let peer = try await WebSocketPeer.start(extensions: "[]")
        defer { peer.stop() }
        let talk = try await open(peer, "/echo", ClientHandshake())
        #expect(talk.agreement == Agreement())
        await echo(talk)
    }

    @Test("the server's choice of a subprotocol is ours to know")
    func subprotocols() async throws {
        let peer = try await WebSocketPeer.start(subprotocols: ["chat", "superchat"])
        defer { peer.stop() }
        let talk = try await open(peer, "/echo", ClientHandshake(protocols: ["other", "superchat"]))
        #expect(talk.agreement.subprotocol == "superchat")
        await talk.closes()
        let none = try await open(peer, "/echo", ClientHandshake(protocols: ["other"]))
        #expect(none.agreement.subprotocol == nil)
        await none.closes()
    }

    @Test("pings go both ways")
    func pings() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let talk = try await open(peer, "/ping", ClientHandshake())
        await talk.ear.messages.reaches(1)
        #expect(talk.ear.heard.messages == [.text("pong came")])
        await talk.on { $0.ping([1, 2, 3]) }
        await talk.ear.pongs.reaches(1)
        #expect(talk.ear.heard.pongs == [[1, 2, 3]])
        await talk.closes()
    }

    @Test("close codes and reasons go both ways")
    func closes() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let told = try await open(peer, "/close/4321/enough", ClientHandshake())
        await told.send(.text("go"))
        await told.ear.ends.reaches(1)
        #expect(told.ear.heard.endings == [.success(try #require(CloseReason(4321, "enough")))])
        let telling = try await open(peer, "/remember", ClientHandshake())
        await telling.ear.messages.reaches(1)
        await telling.on { $0.close(CloseReason(3999, "grüße") ?? .none) }
        await telling.ear.ends.reaches(1)
        let asking = try await open(peer, "/tell", ClientHandshake())
        await asking.ear.messages.reaches(1)
        #expect(asking.ear.heard.messages == [.text("3999 grüße")])
        await asking.ear.ends.reaches(1)
    }

    @Test("a message of eight megabytes arrives, and one beyond the limit ends it")
    func big() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let talk = try await open(peer, "/big/8388608", ClientHandshake())
        await talk.ear.messages.reaches(1)
        guard case .binary(let bytes)? = talk.ear.heard.messages.first else { return #expect(Bool(false)) }
        #expect(bytes.count == 8 << 20)
        #expect(stride(from: 0, to: bytes.count, by: 997).allSatisfy { bytes[$0] == UInt8(truncatingIfNeeded: $0) })
        await talk.closes()
        let small = try await Talk.open(talk.engine, "ws://127.0.0.1:\(peer.port)/big/8388608", ClientHandshake())
        await small.ear.ends.reaches(1)
        #expect(small.ear.heard.endings == [.failure(.violation(.messageTooBig(limit: 1 << 20)))])
    }

    @Test("a peer that pings and does not read gets the last pong alone, and fills no memory")
    func pester() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let talk = try await open(peer, "/pester", ClientHandshake())
        // Its window fills, then our socket, then our queue, up to its room and a pong.
        let room = 64 << 10
        var most = 0
        while most <= room { most = max(most, await talk.on { $0.queuedBytes }) }
        for _ in 0..<20 { most = max(most, await talk.on { $0.queuedBytes }) }
        #expect(most <= room + 131)
        await talk.on { $0.abort() }
        await talk.engine.shutdown()
        #expect(await talk.engine.remains == Remains())
    }

    @Test("a server that aborts is noticed")
    func aborts() async throws {
        let peer = try await WebSocketPeer.start()
        defer { peer.stop() }
        let talk = try await open(peer, "/abort", ClientHandshake())
        await talk.send(.text("go"))
        await talk.ear.ends.reaches(1)
        guard case .failure(.lost)? = talk.ear.heard.endings.first else {
            Issue.record("\(talk.ear.heard.endings)")
            return
        }
    }

    @Test("over TLS all is the same")
    func secure() async throws {
        let identity = try TestCertificates.localhost
        let peer = try await WebSocketPeer.start(identity: (identity.chainPEM, identity.keyPEM))
        defer { peer.stop() }
        var configuration = EngineConfiguration()
        var tls = TLSConfiguration()
        tls.roots = .pem(identity.authorityPEM)
        configuration.tls = try TLSContext(tls)
        for path in ["/echo", "/pieces"] {
            let engine = try EngineHarness(configuration)
            let talk = try await Talk.open(engine, "wss://127.0.0.1:\(peer.port)\(path)", ClientHandshake())
            await echo(talk)
            await engine.shutdown()
        }
    }
}
