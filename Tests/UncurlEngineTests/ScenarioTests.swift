import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlTestServer

@testable import UncurlEngine

/// The scenarios whose fault lies at the border to the kernel. The others stand where their matter is tested, each under
/// its number; `ArchitectureTests` holds the table.
@Suite("Scenarios at the kernel's border", .ownThread, .timeLimit(.minutes(5)))
struct ScenarioTests {
    private let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    /// Puts the loop under a plan made there.
    private func install(_ engine: EngineHarness, _ change: @escaping @Sendable (FaultPlan) -> Void) async {
        await engine.onLoop { engine in
            let plan = FaultPlan(seed: 7)
            change(plan)
            engine.loop.faults = plan
        }
    }

    @Test(
        "a route that is unreachable, prohibited or a black hole keeps its errno",
        .scenario(3),
        arguments: [Errno.networkUnreachable, .hostUnreachable, .accessDenied, .invalidArgument]
    )
    func unreachable(errno: Errno) async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        let engine = try EngineHarness()
        await install(engine) { $0.failures = [FaultPlan.Failure(call: 1, of: .connect, with: errno)] }
        let attempt = ConnectError.Attempt(address: server.address, errno: errno)
        let error = await engine.run(try get(server.port)).error
        #expect(error == .connect(ConnectError(attempts: [attempt], resolution: nil)))
        #expect(await engine.onLoop { $0.loop.faults?.descriptors.isEmpty } == true)
        #expect(await engine.run(try get(server.port)).text == "ok")
    }

    @Test(
        "out of descriptors an idle connection makes room",
        .scenario(9),
        arguments: [Errno.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noBufferSpace]
    )
    func reclaims(errno: Errno) async throws {
        let servers = try (0..<2).map { _ in try RawServer.start(otherwise: .answering(ok)) }
        let engine = try EngineHarness()
        #expect(await engine.run(try get(servers[0].port)).succeeded)
        await install(engine) { $0.failures = [FaultPlan.Failure(call: 1, of: .socket, with: errno)] }
        #expect(await engine.run(try get(servers[1].port)).text == "ok")
        #expect(await engine.statistics.idle == 1)
        try servers[0].waitForEnd(of: 0)
    }

    @Test(
        "out of descriptors, and with no idle connection to give up, the exchange is told, and the loop sleeps",
        .scenario(9)
    )
    func outOfDescriptors() async throws {
        let server = try RawServer.start(otherwise: .answering(ok))
        var configuration = EngineConfiguration()
        configuration.timeouts.connect = .milliseconds(500)
        let clock = ManualClock()
        let engine = try EngineHarness(configuration, clock: clock)
        await install(engine) {
            $0.failures = [FaultPlan.Failure(call: 1, of: .socket, with: .tooManyOpenFiles, lasts: true)]
        }
        for _ in 0..<3 {
            let pending = await engine.begin(try get(server.port))
            await engine.passTime(
                by: .milliseconds(60),
                where: { !$0.descriptorLine.isEmpty },
                until: { pending.isFinished }
            )
            guard case .connect(let error)? = await pending.outcome().error else {
                Issue.record("connected without a descriptor")
                return
            }
            #expect(error.isResourceExhaustion)
        }
        let calls = await engine.onLoop { $0.loop.faults?.callsByKind }
        // One attempt at the start, and one after each pause of 50 ms.
        #expect((4...33).contains(calls?[.socket] ?? 0))
        // Some turns for each letter; a loop that tries again and again takes thousands.
        #expect((calls?[.epollWait] ?? 0) < 500)
        await engine.onLoop { $0.loop.faults = nil }
        #expect(await engine.run(try get(server.port)).text == "ok")
    }

    @Test("a storm of signals changes nothing, and timers keep their time", .scenario(10))
    func signals() async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let engine = try EngineHarness()
        await install(engine) { $0.interruptPercent = 90 }
        for _ in 0..<20 { #expect(await engine.run(try get(server.port, "/get")).status == 200) }
        let early = await withCheckedContinuation { continuation in
            engine.handle.post { engine in
                let deadline = engine.loop.stamp().advanced(by: .milliseconds(20))
                _ = engine.loop.arm(
                    at: deadline,
                    Alarm { continuation.resume(returning: engine.loop.stamp() < deadline) }
                )
            }
        }
        #expect(!early)
    }

    /// What a loop under such a plan must bring over whole.
    private func bringsOver(
        blocking: UInt64,
        _ change: @escaping @Sendable (FaultPlan) -> Void
    ) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let (plain, faulty) = (try EngineHarness(), try EngineHarness())
        await install(faulty) {
            $0.blockPercent = blocking
            change($0)
        }
        let body = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for target in ["/get", "/gzip", "/stream/5", "/bytes/5000?seed=1"] {
            let request = try get(server.port, target)
            let expected = await plain.run(request)
            let result = await faulty.run(request)
            #expect(result.succeeded && result.body == expected.body, "\(target): \(result.testDescription)")
        }
        let upload = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/echo",
            body: .stream(length: nil, replayable: false)
        )
        let echoed = await faulty.run(upload) { $0.bodyParts = [.bytes(body), .bytes(body), .end(trailers: nil)] }
        #expect(echoed.succeeded && echoed.body == body + body && echoed.sent == 10_000)
        let memory = try EngineRequest(
            method: "POST",
            origin: origin(server.port),
            target: "/echo",
            body: .bytes(body)
        )
        #expect(await faulty.run(memory).body == body)
    }

    @Test("one byte a call, and nothing is lost", .scenario(11, 12), arguments: [0, 50] as [UInt64])
    func trickle(blocking: UInt64) async throws {
        try await bringsOver(blocking: blocking) { $0.maximumBytes = 1 }
    }

    @Test("a few bytes a call, refusals and signals together", arguments: [2, 7, 100, 4_096])
    func everything(count: Int) async throws {
        try await bringsOver(blocking: 40) {
            $0.interruptPercent = 40
            $0.maximumBytes = count
        }
    }
}

/// A timer that calls.
private final class Alarm: TimerHandler {
    private let call: () -> Void
    init(_ call: @escaping () -> Void) { self.call = call }
    func timerFired(_ id: TimerID) { call() }
}
