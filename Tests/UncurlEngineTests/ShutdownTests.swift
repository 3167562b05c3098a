import ScriptedPeer
import Synchronization
import TestSupport
import Testing
import UncurlReactor

@testable import UncurlEngine

@Suite("Shutting down", .ownThread, .timeLimit(.minutes(5)))
struct ShutdownTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("leaves nothing on the loop: no registration, no timer, no host, and every exchange has its outcome")
    func nothingLeft() async throws {
        let (server, silent) = (try RawServer.start(otherwise: .answering(ok)), try RawServer.start())
        let dead = try RawServer.neverAccepting()
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        configuration.timeouts.total = .seconds(600)
        let engine = try EngineHarness(configuration)
        #expect(await engine.run(try get(server.port)).succeeded)
        let requests = [try get(silent.port), try get(silent.port), try get(dead.port), try get(dead.port)]
        var pending: [Pending] = []
        for request in requests { pending.append(await engine.begin(request)) }
        try silent.wait(for: 0, "the request") { $0.receivedText.hasSuffix("\r\n\r\n") }
        pending[0].pause()
        await engine.shutdown()
        #expect(await engine.remains == Remains())
        for one in pending { #expect(await one.outcome().error == .shutDown) }
        #expect(await engine.run(try get(server.port)).error == .shutDown)
        #expect(await engine.remains == Remains())
    }

    @Test("a shutdown lets what runs come to its end, starts nothing new, and calls each completion once")
    func draining() async throws {
        let gate = RawGate()
        let server = try RawServer.start(otherwise: [.receive(.headEnd), .wait(gate), .send(ok)])
        let engine = try EngineHarness()
        let pending = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.stepsDone >= 1 }
        let over = Counter()
        for _ in 0..<2 { engine.handle.post { $0.shutdown(within: .seconds(60)) { over.add() } } }
        #expect(await engine.run(try get(server.port)).error == .shutDown)
        #expect(over.value == 0)
        gate.open()
        #expect(await pending.outcome().text == "ok")
        await over.reaches(2)
        #expect(await engine.remains == Remains())
        await engine.shutdown()
    }

    @Test("a second call without patience ends what the first would have waited for")
    func impatient() async throws {
        let server = try RawServer.start()
        let engine = try EngineHarness()
        let pending = await engine.begin(try get(server.port))
        try server.waitForConnections(1)
        let over = Counter()
        engine.handle.post { $0.shutdown(within: .seconds(60)) { over.add() } }
        await engine.shutdown()
        #expect(await pending.outcome().error == .shutDown)
        #expect(over.value == 1)
    }

    @Test("at its limit it fails what is left")
    func limit() async throws {
        let server = try RawServer.start()
        let clock = ManualClock()
        let engine = try EngineHarness(clock: clock)
        let pending = await engine.begin(try get(server.port))
        try server.waitForConnections(1)
        let over = Counter()
        engine.handle.post { $0.shutdown(within: .seconds(5)) { over.add() } }
        _ = await engine.statistics
        #expect(over.value == 0)
        clock.advance(by: .seconds(6), waking: engine.loop)
        #expect(await pending.outcome().error == .shutDown)
        await over.reaches(1)
    }

    @Test("an engine let go of serves what it has, and ends with its last idle connection; its timers find nothing")
    func dropped() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 1, name: "dropped", clock: clock)
        defer { group.shutdown() }
        let loop = group.loops[0]
        let request = try get(server.port)
        nonisolated(unsafe) weak var engine: Engine?
        let result = await withCheckedContinuation { continuation in
            loop.post {
                let made = Engine(on: loop)
                engine = made
                Recorder(made) { continuation.resume(returning: $0) }.start(request)
            }
        }
        #expect(result.text == "ok")
        func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await withCheckedContinuation { continuation in loop.post { continuation.resume(returning: body()) } }
        }
        #expect(await onLoop { engine?.statistics.idle } == 1)
        clock.advance(by: .seconds(61), waking: loop)
        try server.waitForEnd(of: 0)
        #expect(await onLoop { engine == nil })
        #expect(await onLoop { loop.registrations } == 0)
        clock.advance(by: .seconds(61), waking: loop)
        #expect(await onLoop { loop.armedTimers } == 0)
    }

    @Test("a loop that ends under a busy engine ends in peace")
    func loopEnds() async throws {
        let server = try RawServer.start()
        let engine = try EngineHarness()
        _ = await engine.begin(try get(server.port))
        _ = await engine.begin(try get(server.port))
        try server.waitForConnections(2)
        engine.group.shutdown()
        #expect(!engine.handle.post { _ in })
    }
}
