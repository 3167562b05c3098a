import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

/// The kernel takes content long before the peer reads it: bytes move although none are written.
@Suite("Content for a slow receiver", .ownThread, .timeLimit(.minutes(5)))
struct SlowReceiverTests {
    enum Source: CaseIterable { case memory, parts, file }

    private static let content = [UInt8](repeating: 0x61, count: 1_000_000)
    private static let ok = bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private let file = TemporaryFile(Self.content)

    private func request(_ port: UInt16, _ source: Source) throws -> EngineRequest {
        let body: Content =
            switch source {
            case .memory: .bytes(Self.content)
            case .parts: .stream(length: UInt64(Self.content.count), replayable: false)
            case .file: .file(try FileBody(path: file.path))
            }
        return try EngineRequest(method: "PUT", origin: origin(port), body: body)
    }

    /// Reads a tenth of the content behind each gate.
    private func server(_ gates: [RawGate], _ last: [RawStep]) throws -> RawServer {
        let steps = gates.flatMap { [RawStep.stallUntil($0), .receive(.bytes(100_000))] }
        return try RawServer.start(otherwise: RawScript([.receive(.headEnd)] + steps + last))
    }

    private func start(
        _ source: Source,
        _ server: RawServer,
        _ clock: ManualClock
    ) async throws -> (
        EngineHarness, Pending
    ) {
        var configuration = EngineConfiguration()
        configuration.timeouts = Timeouts(idle: .seconds(4))
        let engine = try EngineHarness(configuration, clock: clock)
        let request = try request(server.port, source)
        let pending = await engine.begin(request) { $0.bodyParts = [.bytes(Self.content)] }
        try server.wait(for: 0, "the head") { $0.stepsDone >= 1 }
        return (engine, pending)
    }

    /// Lets time pass in seconds.
    private func pass(_ seconds: Int, _ engine: EngineHarness, _ clock: ManualClock) async {
        for _ in 0..<seconds {
            clock.advance(by: .seconds(1), waking: engine.loop)
            await engine.passTimers()
        }
    }

    @Test(
        "a server that reads a little now and then does not run into the idle limit, and one that stops does",
        arguments: Source.allCases
    )
    func slow(source: Source) async throws {
        let gates = (0..<3).map { _ in RawGate() }
        let server = try server(gates, [.stall])
        let clock = ManualClock()
        let (engine, pending) = try await start(source, server, clock)
        await pass(1, engine, clock)
        for (index, gate) in gates.enumerated() {
            gate.open()
            try server.wait(for: 0, "a part") { $0.stepsDone >= 3 + 2 * index }
            await pass(3, engine, clock)
            #expect(!pending.isFinished, "after \(index + 1) parts")
        }
        await pass(6, engine, clock)
        let result = await pending.outcome()
        #expect(result.error == .timedOut(.idle))
        #expect(result.sent < Self.content.count * 3 / 4, "\(result.sent) bytes count as sent")
    }

    @Test(
        "an answer to content that arrived late is waited for from then on",
        arguments: Source.allCases
    )
    func answer(source: Source) async throws {
        let (gate, end) = (RawGate(), RawGate())
        let server = try RawServer.start(otherwise: [
            .receive(.headEnd), .stallUntil(gate), .receive(.bytes(Self.content.count)), .wait(end), .send(Self.ok),
        ])
        let clock = ManualClock()
        let (engine, pending) = try await start(source, server, clock)
        await pass(3, engine, clock)
        gate.open()
        try server.wait(for: 0, "the content") { $0.stepsDone >= 3 }
        await pass(3, engine, clock)
        #expect(!pending.isFinished)
        end.open()
        let result = await pending.outcome()
        #expect(result.text == "ok" && result.sent == Self.content.count)
    }
}
