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

/// A server may stop inside a message of its own, a ticket of two records for instance; OpenSSL sends nothing before it
/// has the rest, however much room the socket has.
@Suite("Uploads to a server that stops inside a message", .ownThread, .timeLimit(.minutes(5)))
struct HeldUploadTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let server: TLSServerContext
    private let configuration: EngineConfiguration

    init() throws {
        let (identity, client) = (try TestCertificates.localhost, try TestCertificates.client)
        // A ticket that holds the client's certificate does not fit a small record.
        var serving = TLSServerConfiguration(identity)
        serving.clientCertificate = .required(bytes(client.authorityPEM))
        serving.recordSize = 512
        serving.tickets = 1
        server = try TLSServerContext(serving)
        var tls = TLSConfiguration()
        tls.maximumVersion = .v1_3
        tls.roots = .pem(identity.authorityPEM)
        tls.identity = try ClientIdentity(pem: bytes(client.chainPEM + client.keyPEM))
        var configuration = EngineConfiguration()
        configuration.tls = try TLSContext(tls)
        self.configuration = configuration
    }

    private func origin(_ port: UInt16) throws -> Origin { try Origin(scheme: .https, host: "localhost", port: port) }

    /// Waits until a session takes nothing more, and says whether the loop is called for room in its socket, which it
    /// has: called again and again.
    private func waitUntilHeld(_ engine: EngineHarness) async -> Bool {
        let limit = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < limit {
            let awaitsRoom = await engine.onLoop { engine in
                engine.connections.all.first { $0.link.secure?.waitsForInput == true }?.link.awaitsRoom
            }
            if let awaitsRoom { return awaitsRoom }
        }
        Issue.record("the upload was not held back")
        return false
    }

    private static let part = [UInt8](repeating: 7, count: 65_536)
    private static let parts = 200

    private func upload(_ port: UInt16) throws -> EngineRequest {
        let body = Content.stream(length: UInt64(Self.part.count * Self.parts), replayable: false)
        return try EngineRequest(method: "PUT", origin: origin(port), body: body)
    }

    @Test("a held upload is not called for room in the socket, and ends by the idle limit")
    func idle() async throws {
        let script: RawScript = [.ticketBeginning]
        let server = try RawServer.start(otherwise: script.secured(by: server))
        let engine = try EngineHarness(configuration, clock: ManualClock())
        let pending = await engine.begin(try upload(server.port)) {
            $0.bodyParts = Array(repeating: .bytes(Self.part), count: Self.parts)
        }
        #expect(await waitUntilHeld(engine) == false)
        await engine.passTime(by: .seconds(61)) { pending.isFinished }
        #expect(await pending.outcome().error == .timedOut(.idle))
        #expect(await engine.statistics == EngineStatistics())
    }

    @Test("a held upload continues with the rest of the message, and arrives whole")
    func goesOn() async throws {
        let gate = RawGate()
        let count = Self.part.count * Self.parts
        let script: RawScript = [
            .ticketBeginning, .wait(gate), .ticketEnd, .receive(.headEnd), .receive(.bytes(count)), .send(ok),
        ]
        let server = try RawServer.start(otherwise: script.secured(by: server))
        let engine = try EngineHarness(configuration)
        let pending = await engine.begin(try upload(server.port)) {
            $0.bodyParts = Array(repeating: .bytes(Self.part), count: Self.parts)
        }
        #expect(await waitUntilHeld(engine) == false)
        gate.open()
        let result = await pending.outcome()
        #expect(result.text == "ok" && result.sent == count)
        #expect(server.connections[0].received.suffix(count).allSatisfy { $0 == 7 })
        #expect(await engine.statistics.idle == 1)
    }

    @Test("a held upload continues although its consumer has paused at what came with the rest of the message")
    func paused() async throws {
        let (gate, all) = (RawGate(), RawGate())
        let count = Self.part.count * Self.parts
        let head = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        let script: RawScript = [
            .ticketBeginning, .wait(gate), .ticketEnd, .send(head), .receive(.headEnd), .receive(.bytes(count)),
            .wait(all), .send("ok"),
        ]
        let server = try RawServer.start(otherwise: script.secured(by: server))
        let engine = try EngineHarness(configuration)
        let pending = await engine.begin(try upload(server.port)) {
            $0.bodyParts = Array(repeating: .bytes(Self.part), count: Self.parts)
            $0.onHead = { recorder, _ in recorder.engine.pause(recorder.id) }
        }
        #expect(await waitUntilHeld(engine) == false)
        engine.handle.post { _ in
            // Both come while the loop stands here: it reads them at once.
            gate.open()
            _ = try? server.wait(for: 0, "the head") { $0.stepsDone >= 5 }
        }
        try server.wait(for: 0, "the upload") { $0.stepsDone == 7 }
        #expect(!pending.isFinished)
        all.open()
        pending.resume()
        #expect(await pending.outcome().text == "ok")
    }

    @Test("an upgraded connection keeps what is written, and sends it behind the rest of the message")
    func upgraded() async throws {
        let gate = RawGate()
        let count = Self.part.count * 10
        let switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n"
        let script: RawScript = [
            .receive(.headEnd), .send(switching), .ticketBeginning, .wait(gate), .ticketEnd, .receive(.bytes(count)),
            .send("all"),
        ]
        let server = try RawServer.start(otherwise: script.secured(by: server))
        let engine = try EngineHarness(configuration)
        var options = EngineRequest.Options()
        options.upgrade = ["chat"]
        let speaker = Speaker()
        let upgraded = Mutex<LoopBound<UpgradedConnection>?>(nil)
        let result = await engine.run(try EngineRequest(origin: origin(server.port), options: options)) {
            $0.onUpgrade = { _, made in
                upgraded.withLock { $0 = LoopBound(made, on: made.loop) }
                made.start(speaker)
            }
        }
        #expect(result.succeeded)
        try server.wait(for: 0, "the beginning") { $0.stepsDone == 4 }
        // A turn that begins after the bytes have come reads them.
        for _ in 0..<3 { _ = await engine.statistics }
        let writer = try #require(upgraded.withLock { $0 })
        _ = await engine.onLoop { _ in
            for _ in 0..<10 { writer.value.write(Self.part) }
        }
        _ = await engine.statistics
        let isHeldBack = await engine.onLoop { _ in
            writer.value.link.secure?.waitsForInput == true && !writer.value.link.awaitsRoom
        }
        #expect(isHeldBack)
        gate.open()
        await speaker.received.reaches(3)
        #expect(speaker.heard.sent == count)
        #expect(server.connections[0].received.suffix(count).allSatisfy { $0 == 7 })
    }
}
