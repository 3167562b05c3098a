import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

/// Carries an upgraded connection from the call that gives it to the test.
private final class Held: Sendable {
    private let connection = Mutex<LoopBound<UpgradedConnection>?>(nil)

    func keep(_ connection: UpgradedConnection) {
        let bound = LoopBound(connection, on: connection.loop)
        self.connection.withLock { $0 = bound }
    }

    func on<Value: Sendable>(
        _ engine: EngineHarness,
        _ body: @escaping @Sendable (UpgradedConnection) -> Value
    ) async throws -> Value {
        let bound = try #require(connection.withLock { $0 })
        return await engine.onLoop { _ in body(bound.value) }
    }
}

@Suite("Upgrades", .ownThread, .timeLimit(.minutes(5)))
struct UpgradeTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private static func switching(to name: String) -> String {
        "HTTP/1.1 101 Switching Protocols\r\nConnection: keep-alive, Upgrade\r\nUpgrade: \(name)\r\n\r\n"
    }

    private func request(_ port: UInt16, _ upgrade: [String] = ["chat/2", "websocket"]) throws -> EngineRequest {
        var options = EngineRequest.Options()
        options.upgrade = upgrade
        return try EngineRequest(origin: origin(port), options: options)
    }

    /// Upgrades, and starts `speaker` on the connection.
    private func upgrade(
        _ engine: EngineHarness,
        _ request: EngineRequest,
        _ speaker: Speaker
    ) async -> (Recorded, Held) {
        let held = Held()
        let result = await engine.run(request) {
            $0.onUpgrade = { _, connection in
                held.keep(connection)
                connection.start(speaker)
            }
        }
        return (result, held)
    }

    @Test("after 101 both sides speak as they like, and what came behind the head comes first")
    func conversation() async throws {
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(Self.switching(to: "WebSocket") + "one"), .receive(.bytes(3)), .send("two"),
                .receive(.endOfStream), .send("three"), .finish,
            ]
        ])
        let engine = try EngineHarness()
        let speaker = Speaker(onReceive: { connection, bytes in
            if bytes == Array("one".utf8) { connection.write(Array("ONE".utf8)) }
            if bytes == Array("two".utf8) {
                connection.write(Array("bye".utf8))
                connection.finishWriting()
                connection.write(Array("never".utf8))
            }
        })
        let (result, held) = await upgrade(engine, try request(server.port), speaker)
        #expect(result.succeeded && result.informational == [101] && result.report?.status == 101)
        #expect(result.outcomes == 1 && result.report?.remaining == 0)
        #expect(await engine.statistics == EngineStatistics())
        await speaker.ends.reaches(2)
        let heard = speaker.heard
        #expect(heard.text == "onetwothree" && heard.sent == 6 && heard.finished == 1 && heard.closed == [nil])
        let text = try server.waitForEnd(of: 0).receivedText
        #expect(text.contains("\r\nConnection: Upgrade\r\nUpgrade: chat/2, websocket\r\n"))
        #expect(text.hasSuffix("\r\n\r\nONEbye"))
        #expect(try await held.on(engine) { $0.isOpen } == false)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("an upgraded connection is the pool's no more: its place is free, and a shutdown leaves it alone")
    func leavesPool() async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send(Self.switching(to: "websocket")), .receive(.bytes(2)), .send("still here")]],
            otherwise: .answering(ok)
        )
        var configuration = EngineConfiguration()
        (configuration.connections, configuration.connectionsPerHost) = (1, 1)
        let engine = try EngineHarness(configuration)
        let speaker = Speaker()
        let (_, held) = await upgrade(engine, try request(server.port), speaker)
        #expect(await engine.run(try get(server.port)).text == "ok")
        await engine.shutdown()
        try await held.on(engine) { $0.write(Array("hi".utf8)) }
        await speaker.received.reaches(10)
        #expect(speaker.heard.text == "still here")
        try await held.on(engine) { $0.close() }
        #expect(try server.waitForEnd(of: 0).sawReset == false)
        #expect(speaker.heard.closed.isEmpty)
        #expect(await engine.remains == Remains())
    }

    @Test("a server that takes no offer answers as ever, and its connection is used again")
    func declined() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        for _ in 0..<2 { #expect(await engine.run(try request(server.port)).text == "ok") }
        #expect(server.connections.count == 1)
    }

    @Test("a switch that was not offered, or not said in full, is an error")
    func unasked() async throws {
        let unasked = try RawServer.start(otherwise: .answering(bytes(Self.switching(to: "websocket"))))
        let half = bytes("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
        let unconfirmed = try RawServer.start(otherwise: .answering(half))
        for request in [try get(unasked.port), try request(unconfirmed.port)] {
            guard case .malformedResponse(let error)? = await (try EngineHarness()).run(request).error else {
                Issue.record("a switch of protocols was taken")
                continue
            }
            #expect(error.kind == .unexpectedUpgrade)
        }
        // The Kelvin sign is a k in lower case.
        for name in ["h2c", "websocket, h2c", "chat", "\t,", "websoc\u{212A}et", "websocket\u{301}"] {
            let server = try RawServer.start(otherwise: .answering(bytes(Self.switching(to: name))))
            let engine = try EngineHarness()
            #expect(await engine.run(try request(server.port)).error == .unexpectedUpgrade)
            #expect(try server.waitForEnd(of: 0).sawReset)
            #expect(await engine.statistics == EngineStatistics())
        }
    }

    @Test("CONNECT opens a tunnel with any 2xx, whatever its fields say, and anything else is an answer")
    func connect() async throws {
        let server = try RawServer.start(
            [[.receive(.headEnd), .send("HTTP/1.1 299 Fine\r\nContent-Length: 9\r\n\r\nraw"), .finish]],
            otherwise: .answering(bytes("HTTP/1.1 502 No\r\nContent-Length: 3\r\n\r\nno!"))
        )
        let engine = try EngineHarness()
        let request = try EngineRequest(method: "CONNECT", origin: origin(server.port), target: "example.test:443")
        let speaker = Speaker(onFinish: { $0.finishWriting() })
        let (result, _) = await upgrade(engine, request, speaker)
        #expect(result.status == 299 && result.succeeded && result.body.isEmpty)
        await speaker.ends.reaches(2)
        #expect(speaker.heard.text == "raw" && speaker.heard.closed == [nil])
        #expect(
            server.connections[0].receivedText.hasPrefix(
                "CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n"
            )
        )
        let refused = await engine.run(request)
        #expect(refused.status == 502 && refused.text == "no!")
    }

    @Test("nothing is delivered while paused, nor before the start, and all of it afterwards")
    func pausing() async throws {
        let count = 2_000_000
        let content = [UInt8](repeating: 7, count: count)
        let server = try RawServer.start([
            [.receive(.headEnd), .send(bytes(Self.switching(to: "websocket")) + content)]
        ])
        let engine = try EngineHarness()
        let speaker = Speaker(onReceive: { connection, _ in connection.pause() })
        let held = Held()
        _ = await engine.run(try request(server.port)) { $0.onUpgrade = { held.keep($1) } }
        for _ in 0..<10 { _ = await engine.statistics }
        #expect(speaker.received.value == 0)
        try await held.on(engine) { $0.start(speaker) }
        await speaker.received.reaches(1)
        for _ in 0..<10 { _ = await engine.statistics }
        #expect(speaker.received.value <= 1 << 20)
        while speaker.received.value < count {
            let before = speaker.received.value
            try await held.on(engine) { $0.resume() }
            await speaker.received.reaches(before + 1)
        }
        #expect(speaker.heard.bytes == content)
        try await held.on(engine) { $0.close(abruptly: true) }
        #expect(try server.waitForEnd(of: 0).sawReset)
    }

    @Test("what a slow reader leaves in the queue is counted, and sent when there is room")
    func writing() async throws {
        let gate = RawGate()
        let count = 8 << 20
        let server = try RawServer.start([
            [
                .receive(.headEnd), .send(Self.switching(to: "websocket")), .wait(gate), .receive(.bytes(count)),
                .send("all"),
            ]
        ])
        let engine = try EngineHarness()
        let speaker = Speaker()
        let (_, held) = await upgrade(engine, try request(server.port), speaker)
        try await held.on(engine) { connection in
            for _ in 0..<8 { connection.write([UInt8](repeating: 1, count: 1 << 20)) }
            #expect(connection.queuedBytes == count)
        }
        gate.open()
        await speaker.received.reaches(3)
        #expect(speaker.heard.sent == count)
        #expect(try await held.on(engine) { $0.queuedBytes } == 0)
        try await held.on(engine) { $0.close() }
    }

    @Test("a reset is told once, and to a paused reader when it goes on", arguments: [false, true])
    func reset(paused: Bool) async throws {
        let gate = RawGate()
        let server = try RawServer.start([
            [.receive(.headEnd), .send(Self.switching(to: "websocket")), .wait(gate), .reset]
        ])
        let engine = try EngineHarness()
        let speaker = Speaker()
        let (_, held) = await upgrade(engine, try request(server.port), speaker)
        if paused { try await held.on(engine) { $0.pause() } }
        gate.open()
        try server.wait(for: 0, "the reset") { $0.isClosed }
        for _ in 0..<10 { _ = await engine.statistics }
        if paused {
            #expect(speaker.heard.closed.isEmpty)
            try await held.on(engine) { $0.resume() }
        }
        await speaker.ends.reaches(1)
        #expect(speaker.heard.closed == [.connectionLost(.connectionReset)])
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("a delegate that does not take an upgraded connection leaves it closed")
    func unwanted() async throws {
        let server = try RawServer.start([[.receive(.headEnd), .send(Self.switching(to: "websocket"))]])
        let engine = try EngineHarness()
        #expect(await engine.run(try request(server.port)).succeeded)
        #expect(try server.waitForEnd(of: 0).sawFinish)
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("a delegate that cancels at the 101 gets no connection")
    func cancelled() async throws {
        let server = try RawServer.start([[.receive(.headEnd), .send(Self.switching(to: "websocket"))]])
        let engine = try EngineHarness()
        let result = await engine.run(try request(server.port)) {
            $0.onHead = { recorder, _ in recorder.engine.cancel(recorder.id) }
            $0.onUpgrade = { _, _ in Issue.record("a cancelled exchange was upgraded") }
        }
        #expect(result.error == .cancelled && result.outcomes == 1)
        #expect(try server.waitForEnd(of: 0).sawReset)
    }

    @Test("a TRACE with content is refused (RFC 9110 §9.3.8), and one without is not")
    func traced() throws {
        for body in [Content.bytes([1]), .stream(length: nil, replayable: true)] {
            #expect(throws: EngineError.invalidRequest(.traceWithContent)) {
                try EngineRequest(method: "TRACE", origin: origin(1), body: body)
            }
        }
        for body in [Content.none, .bytes([])] {
            #expect(throws: Never.self) { try EngineRequest(method: "TRACE", origin: origin(1), body: body) }
        }
    }

    @Test("offers that are none, and requests that cannot be upgraded, are refused")
    func refused() throws {
        for names in [[""], ["a b"], ["websocket", "x/"], ["a/b/c"], ["a\r\nb"], ["a,b"]] {
            #expect(throws: EngineError.invalidRequest(.upgrade(names))) { try request(1, names) }
        }
        var options = EngineRequest.Options()
        options.upgrade = ["websocket"]
        #expect(throws: EngineError.invalidRequest(.upgradeWithContent)) {
            try EngineRequest(method: "POST", origin: origin(1), body: .bytes([1]), options: options)
        }
        options.pipelineDepth = 2
        #expect(throws: EngineError.invalidRequest(.pipelineThatWaits)) {
            try EngineRequest(origin: origin(1), options: options)
        }
        var fields = HTTPFields()
        try fields.append("Upgrade", "websocket")
        #expect(throws: EngineError.invalidRequest(.reservedField("Upgrade"))) {
            try EngineRequest(origin: origin(1), fields: fields)
        }
    }
}
