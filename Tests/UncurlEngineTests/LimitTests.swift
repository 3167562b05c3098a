import ScriptedPeer
import TestSupport
import Testing
import UncurlReactor

@testable import UncurlEngine

/// Nobody waits for ever because of a number.
@Suite("Limits", .timeLimit(.minutes(5)))
struct LimitTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    @Test("a dial that fails gives its place to the host that waits for one")
    func failedDial() async throws {
        let dead = try RawServer.neverAccepting()
        let server = try RawServer.start(otherwise: .answering(ok))
        let clock = ManualClock()
        var configuration = EngineConfiguration()
        configuration.connections = 1
        let engine = try EngineHarness(configuration, clock: clock)
        let first = await engine.begin(try get(dead.port))
        let second = await engine.begin(try get(server.port))
        clock.advance(by: .seconds(11), waking: engine.loop)
        #expect(await first.outcome().error == .timedOut(.connect))
        #expect(await second.outcome().text == "ok")
    }

    enum Outsider: CaseIterable { case opened, openTimedOut, openCancelled, probed, probeTimedOut }

    @Test(
        "a connection that is for no exchange gives its place to the host that waits for one",
        arguments: Outsider.allCases
    )
    func outsider(_ outsider: Outsider) async throws {
        let (full, server) = (try RawServer.neverAccepting(), try RawServer.start(otherwise: .answering(ok)))
        let (dead, alive, clock) = (try get(full.port), try get(server.port), ManualClock())
        var configuration = EngineConfiguration()
        configuration.connections = 1
        let engine = try EngineHarness(configuration, clock: clock)
        let pending = await engine.begin(alive) { recorder in
            let engine = recorder.engine
            switch outsider {
            case .opened: engine.open(alive.origin) { try? $0.get().close() }
            case .openTimedOut: engine.open(dead.origin) { _ in }
            case .openCancelled:
                let dial = LoopBound(engine.open(dead.origin) { _ in }, on: engine.loop)
                engine.loop.post { dial.value.cancel() }
            case .probed: engine.probe(alive) { _ in }
            case .probeTimedOut: engine.probe(dead) { _ in }
            }
        }
        switch outsider {
        case .openTimedOut, .probeTimedOut: clock.advance(by: .seconds(11), waking: engine.loop)
        case .opened, .openCancelled, .probed: break
        }
        #expect(await pending.outcome().text == "ok")
    }

    @Test("a host that has had its turn gets another place as soon as no exchange needs a connection")
    func secondPlace() async throws {
        let gates = [RawGate(), RawGate()]
        let busy = try RawServer.start(gates.map { [.receive(.headEnd), .wait($0), .send(ok)] })
        let endless = try RawServer.start(otherwise: [.receive(.headEnd)])
        var configuration = EngineConfiguration()
        configuration.connections = 2
        let engine = try EngineHarness(configuration)
        for _ in gates { _ = await engine.begin(try get(busy.port)) }
        for index in gates.indices { try busy.wait(for: index, "a request") { $0.stepsDone >= 1 } }
        for _ in gates { _ = await engine.begin(try get(endless.port)) }
        for (index, gate) in gates.enumerated() {
            gate.open()
            try endless.wait(for: index, "a request") { $0.stepsDone >= 1 }
        }
        #expect(await engine.statistics.busy == 2)
    }

    @Test("a host that alone waits for places keeps its connection")
    func alone() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.connections = 1
        let engine = try EngineHarness(configuration)
        let request = try get(server.port)
        let outcomes = (0..<5).map { _ in Word<Recorded>() }
        // In one turn of the loop, so that all wait at once.
        await engine.onLoop { engine in
            for outcome in outcomes { Recorder(engine) { outcome.give($0) }.start(request) }
        }
        for outcome in outcomes { #expect(await outcome.wait("an outcome")?.text == "ok") }
        #expect(await engine.run(request).text == "ok")
        #expect(server.connections.count == 1)
    }

    @Test("a host whose waiters have left passes its turn on, and is forgotten")
    func leaver() async throws {
        let gate = RawGate()
        let busy = try RawServer.start(otherwise: [.receive(.headEnd), .wait(gate), .send(ok)])
        let (left, last) = (try RawServer.start(), try RawServer.start(otherwise: .answering(ok)))
        var configuration = EngineConfiguration()
        configuration.connections = 1
        let engine = try EngineHarness(configuration)
        let first = await engine.begin(try get(busy.port))
        try busy.wait(for: 0, "the request") { $0.stepsDone >= 1 }
        let second = await engine.begin(try get(left.port))
        let third = await engine.begin(try get(last.port))
        second.cancel()
        #expect(await second.outcome().error == .cancelled)
        gate.open()
        #expect(await first.outcome().succeeded)
        #expect(await third.outcome().text == "ok")
        #expect(left.connections.isEmpty)
        #expect(await engine.remains.hosts == 1)
    }

    @Test("limits of nothing or less still let one connection through", arguments: [0, -1, .min])
    func nothing(limit: Int) async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.connections = limit
        configuration.connectionsPerHost = limit
        configuration.exchangesPerConnection = limit
        configuration.idleTimeout = .nanoseconds(limit)
        configuration.maximumAge = .nanoseconds(limit)
        let engine = try EngineHarness(configuration)
        let pending = [await engine.begin(try get(server.port)), await engine.begin(try get(server.port))]
        for one in pending { #expect(await one.outcome().text == "ok") }
        #expect(server.connections.count == 2)
    }

    @Test(
        "an idle timeout or a maximum age far below nothing ends a connection after its exchange",
        arguments: [(Duration.nanoseconds(Int64.min), Duration.seconds(60)), (.seconds(60), .nanoseconds(Int64.min))]
    )
    func farBelowNothing(idleTimeout: Duration, maximumAge: Duration) async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.idleTimeout = idleTimeout
        configuration.maximumAge = maximumAge
        configuration.maximumAgeSpread = .seconds(1)
        let engine = try EngineHarness(configuration)
        for _ in 0..<2 { #expect(await engine.run(try get(server.port)).text == "ok") }
        #expect(server.connections.count == 2)
    }

    @Test("limits without end trap nowhere")
    func endless() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.connections = .max
        configuration.connectionsPerHost = .max
        configuration.idleTimeout = .seconds(Int64.max)
        configuration.maximumAge = .seconds(Int64.max)
        let endless = Duration.seconds(Int64.max)
        configuration.timeouts = Timeouts(
            connect: endless,
            poolWait: endless,
            responseHead: endless,
            idle: endless,
            total: endless
        )
        let engine = try EngineHarness(configuration)
        for _ in 0..<2 { #expect(await engine.run(try get(server.port)).text == "ok") }
        #expect(server.connections.count == 1)
    }

    @Test("a total limit of nothing has passed at once", arguments: [Duration.zero, .seconds(-5)])
    func noTime(limit: Duration) async throws {
        let server = try RawServer.start(otherwise: .silent)
        var configuration = EngineConfiguration()
        configuration.timeouts.total = limit
        let engine = try EngineHarness(configuration)
        #expect(await engine.run(try get(server.port)).error == .timedOut(.total))
    }

    @Test("waiters that give up leave nothing behind in a queue that does not move")
    func queue() {
        var pool = ConnectionPool(limit: 1)
        _ = pool.wait(ExchangeID(slot: 0, generation: 0))
        _ = pool.dialled(ConnectionID(slot: 0, generation: 0))
        for number in 0..<10_000 as Range<UInt32> {
            let (ticket, _) = pool.wait(ExchangeID(slot: number, generation: 1))
            pool.leave(ticket)
            pool.leave(ticket)
        }
        #expect(pool.queued < 2_048)
        let last = ExchangeID(slot: 1, generation: 2)
        _ = pool.wait(last)
        #expect(
            pool.released(ConnectionID(slot: 0, generation: 0))
                == .assign(ConnectionID(slot: 0, generation: 0), to: last)
        )
    }
}
