import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlTLS

@testable import UncurlEngine
@testable import UncurlWebSocket

/// Against scripts of exact octets, good ones and hostile ones.
@Suite("WebSocket connections", .ownThread, .timeLimit(.minutes(5)))
struct WebSocketConnectionTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let switching =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

    /// A 101 and what the script says behind it.
    private func server(_ steps: [RawStep], fields: String = "", behind: [UInt8] = []) throws -> RawServer {
        try RawServer.start([
            RawScript([.receive(.headEnd), .send(bytes(Self.switching + fields + "\r\n") + behind)] + steps)
        ])
    }

    private func open(
        _ server: RawServer,
        _ ear: Ear = Ear(),
        deflate: DeflateOffer? = DeflateOffer(),
        clock: ManualClock? = nil,
        _ options: WebSocketConnection.Options = .init()
    ) async throws -> Talk {
        let handshake = try ClientHandshake(key: Self.key, [], deflate)
        return try await Talk.open(
            EngineHarness(clock: clock),
            "ws://127.0.0.1:\(server.port)/",
            handshake,
            ear,
            options
        )
    }

    private func frame(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        FrameHeader(opcode, length: payload.count, isFinal: isFinal).append(to: &bytes)
        return bytes + payload
    }

    private func close(_ code: UInt16) -> [UInt8] { frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)]) }

    /// What a client has sent, as its peer understands it.
    private func events(_ received: [UInt8]) throws -> [WebSocketMachine.Event] {
        let end = try #require(received.firstRange(of: bytes("\r\n\r\n")))
        var machine = WebSocketMachine(.server)
        var events: [WebSocketMachine.Event] = []
        var position = 0
        let frames = Array(received[end.upperBound...])
        while let event = try machine.receive(frames.span, &position) { events.append(event) }
        return events
    }

    /// The server's FIN is still to be heard when the delegate has heard of the end.
    private func expectNothingLeft(_ engine: EngineHarness) async {
        await engine.shutdown()
        var remains = await engine.remains
        for _ in 0..<100_000 where remains != Remains() { remains = await engine.remains }
        #expect(remains == Remains())
    }

    @Test("the request is RFC 6455's, and a message that came in one packet with the 101 is heard")
    func request() async throws {
        let server = try server([.receive(.bytes(8)), .send(close(1000)), .close], behind: frame(.text, bytes("hi")))
        let talk = try await open(server)
        await talk.ear.messages.reaches(1)
        await talk.closes()
        #expect(talk.ear.heard.messages == [.text("hi")])
        #expect(talk.ear.heard.endings == [.success(try #require(CloseReason(1000)))])
        let text = server.connections[0].receivedText
        #expect(text.hasPrefix("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nSec-WebSocket-Version: 13\r\n"))
        #expect(text.contains("\r\nSec-WebSocket-Key: \(Self.key)\r\n") && !text.contains("Accept-Encoding"))
        #expect(text.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"))
        await expectNothingLeft(talk.engine)
    }

    @Test("messages of ours arrive, and their senders are told when they have left")
    func sending() async throws {
        // Header, mask and payload of each; then a word, since an abort takes back what the server has not read.
        let length = (2 + 4 + 3) + (10 + 4 + 70_000) + (2 + 4 + 2)
        let server = try server([
            .receive(.bytes(length)), .send(frame(.text, bytes("all"))), .receive(.endOfStream), .close,
        ])
        let talk = try await open(server, deflate: nil)
        let left = Counter()
        await talk.on { socket in
            socket.send(.text("one")) { if $0 { left.add() } }
            socket.send(.binary([UInt8](repeating: 7, count: 70_000))) { if $0 { left.add() } }
            socket.ping([1, 2]) { if $0 { left.add() } }
            socket.ping([UInt8](repeating: 0, count: 126)) { if !$0 { left.add() } }
        }
        await left.reaches(4)
        await talk.ear.messages.reaches(1)
        await talk.on { $0.abort() }
        let events = try events(try server.waitForEnd(of: 0).received)
        #expect(
            events == [.message(.text("one")), .message(.binary([UInt8](repeating: 7, count: 70_000))), .ping([1, 2])]
        )
        #expect(talk.ear.heard.endings.isEmpty)
        await expectNothingLeft(talk.engine)
    }

    @Test("pings are answered with their payload, between the fragments of a message too")
    func pings() async throws {
        let input =
            frame(.ping, [9]) + frame(.text, bytes("a"), isFinal: false) + frame(.ping, [])
            + frame(.continuation, bytes("b"))
        let server = try server([
            .send(input), .receive(.bytes(13)), .send(close(1001)), .receive(.bytes(8)), .close,
        ])
        let talk = try await open(server)
        await talk.ear.ends.reaches(1)
        #expect(talk.ear.heard.messages == [.text("ab")])
        await expectNothingLeft(talk.engine)
        let events = try events(server.received(0))
        #expect(events == [.pong([9]), .pong([]), .closed(try #require(CloseReason(1001)))])
    }

    @Test("a message of empty fragments without end ends the connection, and the server is told why")
    func emptyFragments() async throws {
        let server = try server([.send([0x01, 0x00]), .flood([UInt8](repeating: 0, count: 4_096))])
        let talk = try await open(server, deflate: nil)
        await talk.ear.ends.reaches(1)
        let limit = WebSocketMachine.defaultFragmentCount
        #expect(talk.ear.heard.endings == [.failure(.violation(.tooManyFragments(limit: limit)))])
        #expect(talk.ear.heard.messages.isEmpty)
        #expect(WebSocketError.tooManyFragments(limit: limit).closeCode == 1008)
        await expectNothingLeft(talk.engine)
    }

    /// Octets that break a rule, and what the server is told.
    static let hostile: [([UInt8], UInt16)] = [
        ([0x81, 0x80, 1, 2, 3, 4], 1002), ([0x83, 0], 1002), ([0xC1, 0], 1002), ([0x80, 0], 1002), ([0x09, 0], 1002),
        ([0x89, 126, 0, 126], 1002), ([0x81, 126, 0, 5], 1002), ([0x82, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0], 1002),
        ([0x01, 1, 0x61, 0x01, 1, 0x62], 1002), ([0x88, 1, 3], 1002), ([0x88, 2, 3, 0xED], 1002),
        ([0x88, 3, 3, 0xE8, 0xFF], 1007), ([0x81, 2, 0xC0, 0xAF], 1007), ([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0], 1009),
    ]

    @Test(
        "a peer that breaks a rule is told which kind, and the connection ends, cut at any octet or not",
        arguments: hostile
    )
    func violations(input: [UInt8], code: UInt16) async throws {
        for pieces in [0, 1] {
            let server = try server([.pieces(of: pieces), .send(input), .receive(.endOfStream), .close])
            let talk = try await open(server, deflate: nil)
            await talk.ear.ends.reaches(1)
            guard case .failure(.violation(let error)) = talk.ear.heard.endings.first else {
                Issue.record("\(talk.ear.heard.endings)")
                continue
            }
            #expect(error.closeCode == code)
            let record = try server.waitForEnd(of: 0)
            #expect(!record.sawReset)
            guard case .closed(let reason)? = try events(record.received).last else {
                Issue.record("no close came")
                continue
            }
            #expect(reason.code == code && reason.text == error.description.prefix(123))
            await expectNothingLeft(talk.engine)
        }
    }

    @Test("a decompression bomb costs a message's limit and no more")
    func bomb() async throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, keepsContext: true))
        let bomb = deflater.deflate([UInt8](repeating: 0, count: 32 << 20).span)
        var input: [UInt8] = []
        FrameHeader(.binary, length: bomb.count, isCompressed: true).append(to: &input)
        let server = try server(
            [.send(input + bomb), .receive(.endOfStream), .close],
            fields: "Sec-WebSocket-Extensions: permessage-deflate\r\n"
        )
        let talk = try await open(server)
        await talk.ear.ends.reaches(1)
        #expect(talk.ear.heard.endings == [.failure(.violation(.messageTooBig(limit: 1 << 20)))])
        #expect(talk.ear.heard.messages.isEmpty)
    }

    @Test(
        "a handshake answered with a wrong proof, an unknown subprotocol or extension wins no connection",
        arguments: [
            "Sec-WebSocket-Accept: wrong\r\n", "Sec-WebSocket-Protocol: chat\r\n", "Sec-WebSocket-Extensions: x\r\n",
            "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=7\r\n",
        ]
    )
    func refused(field: String) async throws {
        let server = try server([], fields: field)
        await #expect(throws: Talk.Refused.self) { try await open(server) }
        #expect(try server.waitForEnd(of: 0).sawFinish)
    }

    @Test("an answer other than 101 is an answer", arguments: [200, 301, 401, 404, 426, 503])
    func otherAnswers(status: Int) async throws {
        let server = try RawServer.start(
            otherwise: .answering(bytes("HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\r\nno"))
        )
        do {
            _ = try await open(server)
            Issue.record("it was taken for a WebSocket")
        } catch let refused as Talk.Refused {
            #expect(refused.result.status == status && refused.result.text == "no")
        }
    }

    @Test("a server that goes without a close is told from one that closes", arguments: [RawStep.close, .reset])
    func lost(ending: RawStep) async throws {
        let gate = RawGate()
        let server = try server([.send(frame(.text, bytes("x"))), .wait(gate), ending])
        let talk = try await open(server)
        await talk.ear.messages.reaches(1)
        gate.open()
        await talk.ear.ends.reaches(1)
        guard case .failure(.lost) = talk.ear.heard.endings.first else {
            Issue.record("\(talk.ear.heard.endings)")
            return
        }
        await expectNothingLeft(talk.engine)
    }

    @Test("a server that never answers our close is left after the limit, with a reset")
    func closeTimeout() async throws {
        let clock = ManualClock()
        let server = try server([.send(frame(.text, bytes("x")))])
        let talk = try await open(server, clock: clock)
        await talk.ear.messages.reaches(1)
        await talk.on { $0.close(.none) }
        clock.advance(by: .milliseconds(4_900), waking: talk.engine.loop)
        await talk.engine.passTimers()
        #expect(talk.ear.heard.endings.isEmpty)
        clock.advance(by: .milliseconds(200), waking: talk.engine.loop)
        await talk.ear.ends.reaches(1)
        #expect(talk.ear.heard.endings == [.failure(.closeTimedOut)])
        #expect(try server.waitForEnd(of: 0).sawReset)
        await expectNothingLeft(talk.engine)
    }

    @Test("a server that does not close the transport after its close is left after a moment")
    func lingering() async throws {
        let clock = ManualClock()
        let server = try server([.send(close(1000))])
        let talk = try await open(server, clock: clock)
        await talk.ear.ends.reaches(1)
        #expect(talk.ear.heard.endings == [.success(try #require(CloseReason(1000)))])
        #expect(await talk.engine.remains.registrations == 1)
        clock.advance(by: .seconds(3), waking: talk.engine.loop)
        #expect(try server.waitForEnd(of: 0).sawFinish)
        await expectNothingLeft(talk.engine)
        #expect(talk.ear.heard.endings.count == 1)
    }

    @Test("a delegate that pauses hears one message a time, the peer is held, and nothing is lost")
    func backPressure() async throws {
        let message = [UInt8](repeating: 3, count: 10_000)
        let server = try server([.flood(frame(.binary, message))])
        let ear = Ear { socket, _ in socket.pause() }
        let talk = try await open(server, ear)
        for count in 1...50 {
            await ear.messages.reaches(count)
            for _ in 0..<3 { _ = await talk.engine.statistics }
            #expect(ear.messages.value == count)
            await talk.on { $0.resume() }
        }
        #expect(ear.heard.messages.allSatisfy { $0 == .binary(message) })
        await talk.on { $0.abort() }
        #expect(try server.waitForEnd(of: 0).sawReset)
        await expectNothingLeft(talk.engine)
    }

    @Test("a delegate that closes while paused still hears the peer's close, past all messages between")
    func closePaused() async throws {
        let gate = RawGate()
        let many = (0..<200).flatMap { _ in frame(.binary, [UInt8](repeating: 1, count: 5_000)) }
        let server = try server([.send(many), .wait(gate), .send(close(1000)), .receive(.bytes(6)), .close])
        let ear = Ear { socket, _ in socket.pause() }
        let talk = try await open(server, ear)
        await ear.messages.reaches(1)
        await talk.on { $0.close(.none) }
        gate.open()
        await ear.ends.reaches(1)
        #expect(ear.heard.messages.count == 1)
        #expect(ear.heard.endings == [.success(try #require(CloseReason(1000)))])
        await expectNothingLeft(talk.engine)
    }

    @Test("nothing is sent after a close, and a caller that asks is told")
    func afterClose() async throws {
        let server = try server([.receive(.bytes(6)), .send(close(1000)), .close])
        let talk = try await open(server)
        let refused = Counter()
        await talk.on { socket in
            socket.close(.none)
            socket.close(.none)
            socket.send(.text("late")) { if !$0 { refused.add() } }
            socket.ping([]) { if !$0 { refused.add() } }
        }
        await refused.reaches(2)
        await talk.ear.ends.reaches(1)
        await expectNothingLeft(talk.engine)
        let events = try events(server.received(0))
        #expect(events == [.closed(.none)])
    }

    @Test("what cannot leave any more is told, once")
    func unsent() async throws {
        let server = try server([.stall])
        let talk = try await open(server, deflate: nil)
        let (left, lost) = (Counter(), Counter())
        await talk.on { socket in
            for _ in 0..<20 { socket.send(.binary([UInt8](repeating: 0, count: 1 << 20))) { ($0 ? left : lost).add() } }
        }
        await talk.on { $0.abort() }
        await lost.reaches(1)
        #expect(left.value + lost.value == 20)
    }

    @Test("every cut of a conversation over a slow wire comes to the same")
    func slowWire() async throws {
        let input =
            frame(.text, bytes("né"), isFinal: false) + frame(.ping, [1]) + frame(.continuation, bytes("€"))
            + frame(.binary, [UInt8](repeating: 2, count: 130)) + close(4000)
        for cut in stride(from: 1, to: input.count, by: 7) {
            let server = try server([
                .send(Array(input[..<cut])), .pieces(of: 1), .send(Array(input[cut...])), .receive(.bytes(15)), .close,
            ])
            let talk = try await open(server)
            await talk.ear.ends.reaches(1)
            #expect(talk.ear.heard.messages == [.text("né€"), .binary([UInt8](repeating: 2, count: 130))])
            #expect(talk.ear.heard.endings == [.success(try #require(CloseReason(4000)))])
        }
    }
}
