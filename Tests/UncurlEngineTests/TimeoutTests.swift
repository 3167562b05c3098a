import ScriptedPeer
import TestSupport
import Testing
import UncurlEngine
import UncurlReactor

/// Time in these tests is a number handed to the loop: none of them waits.
@Suite("Timeouts", .ownThread)
struct TimeoutTests {
    private func configuration(_ timeouts: Timeouts) -> EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.timeouts = timeouts
        return configuration
    }

    @Test(
        "a server that takes the connection and says nothing runs into the idle limit, and is not used again",
        .scenario(24)
    )
    func idle() async throws {
        let server = try RawServer.start(otherwise: .silent)
        let clock = ManualClock()
        let engine = try EngineHarness(configuration(Timeouts(idle: .seconds(5))), clock: clock)
        let pending = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.receivedText.hasSuffix("\r\n\r\n") }
        clock.advance(by: .milliseconds(4_900), waking: engine.loop)
        await engine.passTimers()
        #expect(!pending.isFinished)
        clock.advance(by: .milliseconds(200), waking: engine.loop)
        #expect(await pending.outcome().error == .timedOut(.idle))
        #expect(await engine.statistics == EngineStatistics())
        #expect(try server.waitForEnd(of: 0).sawReset)
    }

    @Test("bytes that keep coming reset the idle limit, and the total limit ends it all the same", .scenario(25))
    func total() async throws {
        let gates = (0..<4).map { _ in RawGate() }
        let server = try RawServer.start(
            otherwise: RawScript(
                [.receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")]
                    + gates.flatMap { [RawStep.wait($0), .send("x")] }
            )
        )
        let clock = ManualClock()
        let engine = try EngineHarness(configuration(Timeouts(idle: .seconds(10), total: .seconds(35))), clock: clock)
        let received = Counter()
        let pending = await engine.begin(try get(server.port)) { $0.onBytes = { _, count in received.add(count) } }
        for (index, gate) in gates.enumerated() {
            clock.advance(by: .seconds(9), waking: engine.loop)
            // The turn under way, which read the clock before, ends: the next bytes come at the new time.
            _ = await engine.statistics
            if index < 3 {
                gate.open()
                await received.reaches(index + 1)
            }
        }
        let result = await pending.outcome()
        // Or the server would wait for the last gate for ever.
        gates[3].open()
        #expect(result.error == .timedOut(.total))
        #expect(result.body.count == 3)
    }

    @Test("the response head has a limit of its own, from the request's last byte")
    func responseHead() async throws {
        let server = try RawServer.start(otherwise: .silent)
        let clock = ManualClock()
        let engine = try EngineHarness(configuration(Timeouts(responseHead: .seconds(2), idle: nil)), clock: clock)
        let pending = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.receivedText.hasSuffix("\r\n\r\n") }
        clock.advance(by: .seconds(3), waking: engine.loop)
        #expect(await pending.outcome().error == .timedOut(.responseHead))
    }

    @Test("the limit on the response head stands still while the consumer pauses, and begins anew after that")
    func responseHeadPaused() async throws {
        let server = try RawServer.start(otherwise: .silent)
        let clock = ManualClock()
        let engine = try EngineHarness(configuration(Timeouts(responseHead: .seconds(2), idle: nil)), clock: clock)
        let pending = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.receivedText.hasSuffix("\r\n\r\n") }
        pending.pause()
        for pauses in [true, false] {
            _ = await engine.statistics
            clock.advance(by: pauses ? .seconds(3) : .seconds(1), waking: engine.loop)
            await engine.passTimers()
            #expect(!pending.isFinished)
            pending.resume()
        }
        clock.advance(by: .seconds(2), waking: engine.loop)
        #expect(await pending.outcome().error == .timedOut(.responseHead))
    }

    @Test("connecting to a host that swallows the SYN ends at the connect limit", .scenario(2))
    func connect() async throws {
        let server = try RawServer.neverAccepting()
        let clock = ManualClock()
        let engine = try EngineHarness(configuration(Timeouts(connect: .seconds(1))), clock: clock)
        let pending = await engine.begin(try get(server.port))
        #expect(await engine.statistics.dialling == 1)
        clock.advance(by: .milliseconds(990), waking: engine.loop)
        await engine.passTimers()
        #expect(!pending.isFinished)
        clock.advance(by: .milliseconds(20), waking: engine.loop)
        #expect(await pending.outcome().error == .timedOut(.connect))
        #expect(await engine.statistics == EngineStatistics())
        #expect(await engine.remains.registrations == 0)
    }

    @Test("a request's own connect limit holds for the dial it waits for")
    func ownConnect() async throws {
        let server = try RawServer.neverAccepting()
        let clock = ManualClock()
        let engine = try EngineHarness(configuration(Timeouts(connect: .seconds(100))), clock: clock)
        var options = EngineRequest.Options()
        options.timeouts = Timeouts(connect: .seconds(1))
        let pending = await engine.begin(try EngineRequest(origin: origin(server.port), options: options))
        #expect(await engine.statistics.dialling == 1)
        clock.advance(by: .milliseconds(1_100), waking: engine.loop)
        await engine.passTimers()
        #expect(pending.isFinished)
        pending.cancel()
        #expect(await pending.outcome().error == .timedOut(.connect))
    }

    @Test("the wait for a place in the pool is named as such")
    func poolWait() async throws {
        let server = try RawServer.start(otherwise: .silent)
        let clock = ManualClock()
        var configuration = configuration(Timeouts(poolWait: .seconds(1), idle: nil))
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration, clock: clock)
        let first = await engine.begin(try get(server.port))
        try server.wait(for: 0, "the request") { $0.receivedText.hasSuffix("\r\n\r\n") }
        let second = await engine.begin(try get(server.port))
        clock.advance(by: .seconds(2), waking: engine.loop)
        #expect(await second.outcome().error == .timedOut(.poolWait))
        #expect(!first.isFinished)
        first.cancel()
        #expect(await first.outcome().error == .cancelled)
    }

    @Test("no idle limit runs while the consumer has paused; it starts anew on resuming", .scenario(26))
    func paused() async throws {
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
        ])
        let clock = ManualClock()
        let engine = try EngineHarness(configuration(Timeouts(idle: .seconds(5))), clock: clock)
        let received = Counter()
        let pending = await engine.begin(try get(server.port)) {
            $0.pauseAtFirstBytes(counting: received)
        }
        await received.reaches(5)
        clock.advance(by: .seconds(100), waking: engine.loop)
        await engine.passTimers()
        #expect(!pending.isFinished)
        pending.resume()
        _ = await engine.statistics
        clock.advance(by: .milliseconds(4_900), waking: engine.loop)
        await engine.passTimers()
        #expect(!pending.isFinished)
        clock.advance(by: .milliseconds(200), waking: engine.loop)
        #expect(await pending.outcome().error == .timedOut(.idle))
    }

    @Test("a server that stops reading an upload runs into the idle limit, and the body is reset", .scenario(27))
    func uploadStall() async throws {
        // Sparse, and larger than any socket's buffer.
        let file = TemporaryFile()
        file.truncate(to: 1 << 30)
        let bodies = [
            Content.bytes([UInt8](repeating: 7, count: 32 << 20)), .file(try FileBody(path: file.path)),
            .threaded(ThreadedBody(length: nil) { Endless() }),
        ]
        for body in bodies {
            let server = try RawServer.start(otherwise: [.receive(.headEnd), .stall])
            let engine = try EngineHarness(configuration(Timeouts(idle: .seconds(5))), clock: ManualClock())
            let request = try EngineRequest(method: "PUT", origin: origin(server.port), body: body)
            let pending = await engine.begin(request)
            try server.wait(for: 0, "the head") { $0.receivedText.contains("\r\n\r\n") }
            // Nobody knows how long the sockets take bytes, and a thread its time to read them: each that leaves is
            // activity, whatever the clock says.
            await engine.passTime(by: .seconds(6)) { pending.isFinished }
            #expect(await pending.outcome().error == .timedOut(.idle))
            #expect(try server.waitForEnd(of: 0).sawReset)
            #expect(await engine.statistics == EngineStatistics())
        }
    }

    private final class Endless: BlockingReader {
        func read(atMost count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }
    }

    @Test("a parked connection is closed at its idle limit, or earlier by the server's hint")
    func parking() async throws {
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let hinted = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=10, max=100\r\n\r\n"
        for (response, limit) in [(plain, 30), (hinted, 9)] {
            let server = try RawServer.start(otherwise: .answering(bytes(response)))
            let clock = ManualClock()
            var configuration = EngineConfiguration()
            configuration.idleTimeout = .seconds(30)
            let engine = try EngineHarness(configuration, clock: clock)
            #expect(await engine.run(try get(server.port)).succeeded)
            clock.advance(by: .milliseconds(limit * 1_000 - 100), waking: engine.loop)
            #expect(await engine.statistics.idle == 1)
            clock.advance(by: .milliseconds(200), waking: engine.loop)
            try server.waitForEnd(of: 0)
            #expect(await engine.statistics.idle == 0)
        }
    }
}
