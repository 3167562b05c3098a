import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics
import UncurlTLS
import UncurlTestServer

@testable import UncurlEngine

/// What goes another way through TLS than in the clear: files, and what comes behind a 101.
@Suite("Requests over TLS", .ownThread, .timeLimit(.minutes(5)))
struct SecureRequestTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let server: TLSServerContext
    private let configuration: EngineConfiguration

    init() throws {
        let identity = try TestCertificates.identity(["DNS:localhost"])
        server = try TLSServerContext(TLSServerConfiguration(certificate: .init(identity)))
        var tls = TLSConfiguration()
        tls.roots = .pem(identity.authorityPEM)
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(tls)
        self.configuration = configuration
    }

    private func origin(_ port: UInt16) throws -> Origin { try Origin(scheme: .https, host: "localhost", port: port) }

    @Test("files and memory are encrypted as they are read, and arrive as they are")
    func files() async throws {
        let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
        let file = TemporaryFile(content)
        let parts: [Content] = [
            .bytes(bytes("<")), .file(try FileBody(path: file.path)), .bytes(bytes(">")),
        ]
        let server = try RawServer.start(
            otherwise: RawScript([.receive(.headEnd), .receive(.bytes(1_000_002)), .send(ok)]).secured(by: server)
        )
        let engine = try EngineHarness(configuration)
        let request = try EngineRequest(method: "PUT", origin: origin(server.port), body: .parts(parts))
        let result = await engine.run(request)
        #expect(result.text == "ok" && result.sent == 1_000_002)
        #expect(server.connections[0].received.suffix(1_000_002) == bytes("<") + content + bytes(">"))
        #expect(await engine.statistics.idle == 1)
    }

    @Test("a session that can seal nothing more fails its exchange, and its upgraded connection, at once")
    func sealing() async throws {
        let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n"
        let answering = RawScript.answering(ok).secured(by: server)
        let upgrading: RawScript = [.receive(.headEnd), .send(switching)]
        // What is to be upgraded shares no connection with what is not.
        let server = try RawServer.start([answering, answering], otherwise: upgrading.secured(by: server))
        // Time stands still: no limit ends them.
        let engine = try EngineHarness(configuration, clock: ManualClock())
        let get = try EngineRequest(origin: origin(server.port))
        var options = EngineRequest.Options()
        options.upgrade = ["chat"]
        let upgrade = try EngineRequest(origin: origin(server.port), options: options)
        let kept = Mutex<LoopBound<UpgradedConnection>?>(nil)
        let speaker = Speaker()
        // As one that has no memory left: it refuses, and the peer has no part in it.
        let end: @Sendable (Engine) -> Void = { engine in
            for connection in engine.connections.all { connection.link.secure?.session.close() }
        }
        #expect(await engine.run(get).text == "ok")
        await engine.onLoop(end)
        #expect(await engine.run(get).error == .tls(.closed))
        #expect(await engine.run(get).text == "ok")
        let result = await engine.run(upgrade) {
            $0.onUpgrade = { _, connection in
                connection.start(speaker)
                kept.withLock { $0 = LoopBound(connection, on: connection.loop) }
            }
        }
        for _ in 0..<3 { _ = await engine.statistics }
        #expect(speaker.heard.closed.isEmpty)
        #expect(result.informational == [101])
        let upgraded = try #require(kept.withLock { $0 })
        await engine.onLoop { _ in
            upgraded.value.link.secure?.session.close()
            upgraded.value.write(bytes("more"))
        }
        await speaker.ends.reaches(1)
        #expect(speaker.heard.closed == [.tls(.closed)])
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }

    @Test("a file that becomes shorter ends the connection without a close_notify")
    func shrinking() async throws {
        let file = TemporaryFile([UInt8](repeating: 1, count: 8 << 20))
        let server = try RawServer.start(otherwise: RawScript.silent.secured(by: server))
        let engine = try EngineHarness(configuration)
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .file(try FileBody(path: file.path))
        )
        let result = await engine.run(request) { $0.onSent = { _, _ in file.truncate(to: 10) } }
        guard case .bodyLengthMismatch(declared: 8 << 20, given: _)? = result.error else {
            Issue.record("a cut file was sent: \(result)")
            return
        }
        #expect(try server.waitForEnd(of: 0).sawReset)
    }

    @Test("content waits for the 100")
    func expectation() async throws {
        let server = try RawServer.start(
            otherwise: RawScript([
                .receive(.headEnd), .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(.bytes(5)), .send(ok),
            ]).secured(by: server)
        )
        var options = EngineRequest.Options()
        options.expectsContinueAbove = 0
        let engine = try EngineHarness(configuration, clock: ManualClock())
        let request = try EngineRequest(
            method: "PUT",
            origin: origin(server.port),
            body: .bytes(bytes("hello")),
            options: options
        )
        let result = await engine.run(request)
        #expect(result.text == "ok" && result.informational == [100] && result.sent == 5)
    }

    @Test("an upgraded connection stays inside of TLS, and only a close_notify is an end in order")
    func upgrade() async throws {
        for isOrderly in [true, false] {
            let end: [RawStep] = isOrderly ? [.closeNotify, .finish] : [.finish]
            let server = try RawServer.start(
                otherwise: RawScript(
                    [
                        .receive(.headEnd),
                        .send("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst"),
                        .receive(.bytes(6)), .send("third"),
                    ] + end
                ).secured(by: server)
            )
            var options = EngineRequest.Options()
            options.upgrade = ["websocket"]
            let engine = try EngineHarness(configuration)
            let speaker = Speaker(
                onReceive: { connection, received in
                    if received == Array("first".utf8) { connection.write(Array("second".utf8)) }
                },
                onFinish: { $0.finishWriting() }
            )
            let request = try EngineRequest(origin: origin(server.port), options: options)
            let result = await engine.run(request) { $0.onUpgrade = { $1.start(speaker) } }
            #expect(result.succeeded && result.informational == [101])
            await speaker.ends.reaches(isOrderly ? 2 : 1)
            #expect(speaker.heard.text == "firstthird" && speaker.heard.sent == 6)
            #expect(speaker.heard.closed == [isOrderly ? nil : .tls(.truncated)])
            #expect(server.connections[0].receivedText.hasSuffix("\r\n\r\nsecond"))
            await engine.shutdown()
            #expect(await engine.remains == Remains())
        }
    }

    @Test("the loop rests once ciphertext that found no room has left", arguments: [true, false])
    func rest(isHeld: Bool) async throws {
        let switching = "HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        let script: RawScript = [.receive(.headEnd), .send(switching)]
        let server = try RawServer.start(otherwise: script.secured(by: server))
        var options = EngineRequest.Options()
        options.upgrade = ["websocket"]
        let engine = try EngineHarness(configuration)
        let (speaker, kept) = (Speaker(), Word<LoopBound<UpgradedConnection>>())
        _ = await engine.run(try EngineRequest(origin: origin(server.port), options: options)) {
            $0.onUpgrade = { _, connection in
                connection.start(speaker)
                kept.give(LoopBound(connection, on: connection.loop))
            }
        }
        let connection = try #require(await kept.wait("the connection"))
        await engine.onLoop {
            $0.loop.faults = FaultPlan(failures: [.init(call: 1, of: .send, with: .wouldBlock, lasts: true)])
            if isHeld {
                connection.value.write(bytes("more"))
            } else {
                connection.value.finishWriting(keepsReading: true)
            }
        }
        await until { await engine.onLoop { _ in connection.value.link.secure?.hasUnsent == true } }
        await engine.onLoop {
            if isHeld { connection.value.hold(true) }
            $0.loop.faults = nil
        }
        await until { await engine.onLoop { _ in connection.value.link.secure?.hasUnsent == false } }
        #expect(try await engine.wakeUps() < 50)
        if isHeld {
            #expect(speaker.heard.sent == 0)
            await engine.onLoop { _ in connection.value.hold(false) }
            await speaker.sent.reaches(4)
            #expect(server.connections[0].receivedText.hasSuffix("\r\n\r\nmore"))
        }
        await engine.onLoop { _ in connection.value.close() }
    }

    enum User: CaseIterable { case exchange, nobody, probe }

    @Test(
        "a last flight of a handshake that found no room leaves later, and does not keep the loop awake",
        arguments: User.allCases
    )
    func lastFlight(user: User) async throws {
        let gate = RawGate()
        let script: RawScript = [.wait(gate), .send(ok)]
        let server = try RawServer.start(otherwise: script.secured(by: server))
        let request = try EngineRequest(origin: origin(server.port))
        let engine = try EngineHarness(configuration)
        let ended = Word<Bool>()
        await engine.onLoop { engine in
            // After the ClientHello.
            engine.loop.faults = FaultPlan(failures: [.init(call: 2, of: .send, with: .wouldBlock)])
            switch user {
            case .exchange, .nobody:
                let recorder = Recorder(engine) { ended.give($0.text == "ok") }
                recorder.start(request)
                if user == .nobody { engine.cancel(recorder.id) }
            case .probe:
                engine.probe(request) { outcome in ended.give((try? outcome.get()) != nil) }
            }
        }
        try server.wait(for: 0, "the handshake") { $0.stepsDone >= 1 }
        switch user {
        case .exchange: try server.wait(for: 0, "the request") { $0.receivedText.hasSuffix("\r\n\r\n") }
        case .nobody: await until { await engine.statistics.idle == 1 }
        case .probe: try server.waitForEnd(of: 0)
        }
        #expect(await engine.onLoop { $0.loop.faults?.failed } == 1)
        #expect(try await engine.wakeUps() < 50)
        gate.open()
        if user == .exchange { #expect(await ended.wait("the answer") == true) }
        await engine.shutdown()
        #expect(await engine.remains == Remains())
    }
}
