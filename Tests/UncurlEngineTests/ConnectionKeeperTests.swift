import ScriptedPeer
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor

@testable import UncurlEngine

/// Connections that a user of an engine keeps for itself.
@Suite("Connection keepers", .ownThread)
struct ConnectionKeeperTests {
    private static let answering = RawScript.answering(bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))

    /// Runs the requests one after the other, each for the keeper of that number; nil for none.
    private func run(
        _ engine: EngineHarness,
        _ keepers: LoopBound<[ConnectionKeeper]>,
        _ requests: [(keeper: Int?, port: UInt16)]
    ) async throws -> [Bool] {
        var reused: [Bool] = []
        for (keeper, port) in requests {
            let result = await engine.run(try get(port)) { recorder in
                recorder.keeper = keeper.map { keepers.value[$0] }
            }
            #expect(result.succeeded)
            reused.append(result.report?.reusedConnection == true)
        }
        return reused
    }

    private func keepers(_ engine: EngineHarness, _ count: Int) async -> LoopBound<[ConnectionKeeper]> {
        await engine.onLoop { LoopBound((0..<count).map { _ in ConnectionKeeper() }, on: $0.loop) }
    }

    @Test("each keeper has a connection of its own to each host, and exchanges without one use others")
    func own() async throws {
        let servers = try (0..<2).map { _ in try RawServer.start(otherwise: Self.answering) }
        let engine = try EngineHarness()
        let keepers = await keepers(engine, 2)
        let (a, b) = (servers[0].port, servers[1].port)
        let first = try await run(engine, keepers, [(0, a), (1, a), (nil, a), (0, b), (1, b)])
        #expect(first == [false, false, false, false, false])
        let second = try await run(engine, keepers, [(1, b), (0, a), (nil, a), (0, b), (1, a), (0, a)])
        #expect(second.allSatisfy { $0 })
        #expect(servers.map { $0.connections.count } == [3, 2])
    }

    @Test("a kept connection that the server closes is replaced, and its place comes free")
    func closed() async throws {
        let gate = RawGate()
        let once: RawScript = [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .wait(gate), .close,
        ]
        let server = try RawServer.start([once], otherwise: Self.answering)
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration)
        let keepers = await keepers(engine, 1)
        #expect(try await run(engine, keepers, [(0, server.port)]) == [false])
        #expect(await engine.statistics.busy == 1)
        gate.open()
        await until { await engine.statistics.busy == 0 }
        #expect(try await run(engine, keepers, [(0, server.port), (0, server.port)]) == [false, true])
        #expect(server.connections.count == 2)
    }

    @Test("a keeper's connections can be closed, and make room at the limit of all")
    func room() async throws {
        let servers = try (0..<3).map { _ in try RawServer.start(otherwise: Self.answering) }
        var configuration = EngineConfiguration()
        configuration.connections = 2
        let engine = try EngineHarness(configuration)
        let keepers = await keepers(engine, 1)
        let ports = servers.map(\.port)
        #expect(try await run(engine, keepers, ports.map { (0, $0) }) == [false, false, false])
        try servers[0].waitForEnd(of: 0)
        #expect(try await run(engine, keepers, [(0, ports[1]), (0, ports[2])]) == [true, true])
        await engine.onLoop { $0.closeConnections(of: keepers.value[0]) }
        for server in servers { try server.waitForEnd(of: 0) }
        #expect(await engine.onLoop { $0.connections.count } == 0)
    }

    @Test("each connection is told once when it opens, and one that no exchange uses too")
    func opened() async throws {
        let server = try RawServer.start(otherwise: Self.answering)
        let engine = try EngineHarness()
        let count = Counter()
        await engine.onLoop { $0.whenOpened { _ in count.add(1) } }
        for _ in 0..<3 { #expect(await engine.run(try get(server.port)).succeeded) }
        #expect(count.value == 1)
        let request = try get(server.port)
        await engine.onLoop { engine in
            let recorders = (0..<2).map { _ in Recorder(engine) { _ in } }
            for recorder in recorders { recorder.start(request) }
            // Its dial goes on without it.
            engine.cancel(recorders[1].id)
        }
        try server.waitForConnections(2)
        await until { count.value == 2 }
    }
}
