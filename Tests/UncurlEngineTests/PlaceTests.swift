import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlReactor
import UncurlTestServer

/// What becomes of the places of exchanges that wait for their program. Time is a number handed to the loop.
@Suite("Places of exchanges that rest", .ownThread, .timeLimit(.minutes(5)))
struct PlaceTests {
    private let clock = ManualClock()

    private func harness(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> EngineHarness {
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        configuration.timeouts = Timeouts(poolWait: .seconds(20), idle: .seconds(20))
        change(&configuration)
        return try EngineHarness(configuration, clock: clock)
    }

    /// Begins an exchange that rests as soon as its head has come, and is paused.
    private func resting(_ engine: EngineHarness, _ reason: Rest, _ request: EngineRequest) async -> Pending {
        let hasBegun = Counter()
        let pending = await engine.begin(request) { recorder in
            recorder.onHead = { recorder, _ in
                recorder.engine.rest(recorder.id, for: reason)
                recorder.engine.pause(recorder.id)
                hasBegun.add()
            }
        }
        await hasBegun.reaches(1)
        return pending
    }

    /// How many connections are busy and idle, and how many exchanges wait for one.
    private func figures(_ engine: EngineHarness) async -> [Int] {
        let statistics = await engine.statistics
        return [statistics.busy, statistics.idle, statistics.waiting]
    }

    private func pass(_ span: Duration, _ engine: EngineHarness) async {
        clock.advance(by: span, waking: engine.loop)
        await engine.passTimers()
    }

    @Test(
        "an exchange that rests lends its place to one that waits, after a tenth of a second, until it goes on",
        arguments: [Rest.question, .suspension]
    )
    func lends(reason: Rest) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try harness()
        let first = await resting(engine, reason, try get(server.port, "/bytes/1000000"))
        let second = await engine.begin(try get(server.port, "/bytes/7"))
        await pass(.milliseconds(50), engine)
        #expect(await figures(engine) == [1, 0, 1])
        await pass(.milliseconds(60), engine)
        #expect(await second.outcome().body.count == 7)
        // The first one has lent its place: the other connection is within the limit.
        #expect(await figures(engine) == [1, 1, 0])
        first.resume()
        #expect(await first.outcome().body.count == 1_000_000)
        #expect(await figures(engine) == [0, 1, 0])
        #expect(server.connectionsAccepted == 2)
    }

    @Test("an exchange that is only paused, or has gone on within a tenth of a second, keeps its place")
    func keeps() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try harness()
        let paused = await resting(engine, .none, try get(server.port, "/bytes/1000000"))
        let second = await engine.begin(try get(server.port, "/bytes/7"))
        await pass(.seconds(1), engine)
        #expect(await engine.statistics.waiting == 1)
        paused.rest(for: .question)
        _ = await engine.statistics
        await pass(.milliseconds(90), engine)
        paused.rest(for: .none)
        _ = await engine.statistics
        await pass(.seconds(1), engine)
        #expect(await engine.statistics.waiting == 1 && server.connectionsAccepted == 1)
        paused.resume()
        #expect(await second.outcome().body.count == 7)
        #expect(await paused.outcome().body.count == 1_000_000)
        #expect(server.connectionsAccepted == 1)
    }

    @Test("the limit on all connections does not count an exchange that rests either")
    func total() async throws {
        let (server, other) = (try TestServer.start(), try TestServer.start())
        defer {
            server.stop()
            other.stop()
        }
        let engine = try harness { $0.connections = 1 }
        let first = await resting(engine, .question, try get(server.port, "/bytes/1000000"))
        let second = await engine.begin(try get(other.port, "/bytes/7"))
        await pass(.milliseconds(50), engine)
        #expect(await engine.statistics.waiting == 1)
        await pass(.milliseconds(60), engine)
        #expect(await second.outcome().body.count == 7)
        first.resume()
        #expect(await first.outcome().succeeded)
    }

    @Test("the idle limit goes on while a paused exchange waits for an answer, and stops while it is suspended")
    func silence() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try harness { $0.connectionsPerHost = 2 }
        let asking = await resting(engine, .question, try get(server.port, "/bytes/1000000"))
        let suspended = await resting(engine, .suspension, try get(server.port, "/bytes/1000000"))
        await pass(.seconds(19), engine)
        #expect(!asking.isFinished)
        await pass(.seconds(2), engine)
        #expect(await asking.outcome().error == .timedOut(.idle))
        await pass(.seconds(100), engine)
        #expect(!suspended.isFinished)
        suspended.rest(for: .question)
        _ = await engine.statistics
        await pass(.seconds(19), engine)
        #expect(!suspended.isFinished)
        await pass(.seconds(2), engine)
        #expect(await suspended.outcome().error == .timedOut(.idle))
    }

    @Test("the limit on the wait for a place passes behind a paused exchange, and not while the waiting one is paused")
    func waits() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try harness()
        let paused = await resting(engine, .none, try get(server.port, "/bytes/1000000"))
        let second = await engine.begin(try get(server.port, "/bytes/7"))
        let third = await engine.begin(try get(server.port, "/bytes/8"))
        third.pause()
        _ = await engine.statistics
        await pass(.seconds(21), engine)
        #expect(await second.outcome().error == .timedOut(.poolWait))
        await pass(.seconds(21), engine)
        #expect(!third.isFinished)
        third.resume()
        _ = await engine.statistics
        await pass(.seconds(19), engine)
        #expect(!third.isFinished)
        paused.resume()
        #expect(await third.outcome().body.count == 8)
        #expect(await paused.outcome().succeeded)
    }

    @Test("the limit on the wait for a place does not pass while a connection is opened")
    func dials() async throws {
        let server = try RawServer.neverAccepting()
        let engine = try harness { $0.timeouts.connect = .seconds(50) }
        let pending = await engine.begin(try get(server.port))
        await pass(.seconds(41), engine)
        #expect(!pending.isFinished)
        await pass(.seconds(10), engine)
        #expect(await pending.outcome().error == .timedOut(.connect))
    }
}
