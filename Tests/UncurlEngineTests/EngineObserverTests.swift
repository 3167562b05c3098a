import Testing
import UncurlHTTP1
import UncurlTestServer

@testable import UncurlEngine

@Suite("Observing an engine")
struct EngineObserverTests {
    /// The events of `body`, which runs with the observer in place.
    private func events(
        _ engine: EngineHarness,
        _ body: () async -> Void
    ) async -> [String] {
        await engine.onLoop { $0.observer = Notes() }
        await body()
        return await engine.onLoop { ($0.observer as? Notes)?.notes ?? [] }
    }

    @Test("two exchanges on one connection are told in their order")
    func ordinary() async throws {
        let (server, engine) = (try TestServer.start(), try EngineHarness())
        let request = try get(server.port, "/get")
        let told = await events(engine) {
            #expect(await engine.run(request).succeeded)
            #expect(await engine.run(request).succeeded)
            await engine.shutdown()
        }
        #expect(
            told == [
                "waiting", "dialling", "opened 1", "leased 1 new", "ended", "parked 1", "leased 1 reused", "ended",
                "parked 1", "closed 1 shutDown",
            ]
        )
    }

    @Test("a stale connection shows as its end, a retry and a new one")
    func retried() async throws {
        let answer = RawScript([.receive(.headEnd), .send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")])
        let server = try RawServer.start(
            [RawScript(answer.steps + [.receive(.headEnd), .close])],
            otherwise: .answering(bytes("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"))
        )
        let engine = try EngineHarness()
        let request = try get(server.port)
        let told = await events(engine) {
            #expect(await engine.run(request).succeeded)
            #expect(await engine.run(request).report?.retried == true)
        }
        #expect(
            told.suffix(8).prefix(6) == [
                "leased 1 reused", "retrying", "closed 1 failed", "dialling", "opened 2", "leased 2 new",
            ]
        )
    }

    @Test("a connection that cannot be opened is told with its reason")
    func refused() async throws {
        let server = try RawServer.start()
        let port = server.port
        server.stop()
        let engine = try EngineHarness()
        let request = try get(port)
        let told = await events(engine) { _ = await engine.run(request) }
        #expect(told == ["waiting", "dialling", "dialFailed", "ended failed"])
    }
}

/// Keeps what it hears, in words.
private final class Notes: EngineObserver {
    var notes: [String] = []

    func engine(_ engine: Engine, didObserve event: EngineEvent) {
        switch event {
        case .waiting: notes.append("waiting")
        case .dialling: notes.append("dialling")
        case .dialFailed: notes.append("dialFailed")
        case .awaitingRoots: notes.append("awaitingRoots")
        case .askingForTrust: notes.append("askingForTrust")
        case .secured: notes.append("secured")
        case .opened(let number, _, _): notes.append("opened \(number)")
        case .leased(_, let number, let reused): notes.append("leased \(number) \(reused ? "reused" : "new")")
        case .retrying: notes.append("retrying")
        case .parked(let number): notes.append("parked \(number)")
        case .closed(let number, .failed): notes.append("closed \(number) failed")
        case .closed(let number, let reason): notes.append("closed \(number) \(reason)")
        case .ended(_, let error): notes.append(error == nil ? "ended" : "ended failed")
        }
    }
}
