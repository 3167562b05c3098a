import ScriptedPeer
import Synchronization
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
        let notes = Notes()
        await engine.onLoop { $0.observer = notes.take }
        await body()
        // What the loop still does of it is told too.
        return await engine.onLoop { _ in notes.notes.withLock { $0 } }
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
private final class Notes: Sendable {
    let notes = Mutex<[String]>([])

    func take(_ event: EngineEvent) { notes.withLock { $0.append(words(of: event)) } }

    private func words(of event: EngineEvent) -> String {
        switch event {
        case .waiting: "waiting"
        case .dialling: "dialling"
        case .dialFailed: "dialFailed"
        case .awaitingRoots: "awaitingRoots"
        case .askingForTrust: "askingForTrust"
        case .secured: "secured"
        case .opened(let number, _, _): "opened \(number)"
        case .leased(_, let number, let reused): "leased \(number) \(reused ? "reused" : "new")"
        case .retrying: "retrying"
        case .parked(let number): "parked \(number)"
        case .closed(let number, .failed): "closed \(number) failed"
        case .closed(let number, let reason): "closed \(number) \(reason)"
        case .ended(_, let error): error == nil ? "ended" : "ended failed"
        }
    }
}
