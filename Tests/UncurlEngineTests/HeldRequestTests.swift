import ScriptedPeer
import TestSupport
import Testing

@testable import UncurlEngine

@Suite("Held requests", .ownThread, .timeLimit(.minutes(5)))
struct HeldRequestTests {
    @Test(
        "a request that is held before it has a connection is sent when it is released, not when it gets one",
        arguments: [[], [UInt8](repeating: 7, count: 3)]
    )
    func waiting(content: [UInt8]) async throws {
        let gate = RawGate()
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let server = try RawServer.start([
            [
                .receive(.headEnd), .wait(gate), .send(ok),
                .receive(.headEnd), .receive(.bytes(content.count)), .send(ok),
            ]
        ])
        var configuration = EngineConfiguration()
        configuration.connectionsPerHost = 1
        let engine = try EngineHarness(configuration)
        let first = await engine.begin(try get(server.port))
        let body: Content = content.isEmpty ? .none : .bytes(content)
        let held = await engine.begin(try EngineRequest(method: "PUT", origin: origin(server.port), body: body))
        held.hold(true)
        _ = await engine.statistics
        gate.open()
        #expect(await first.outcome().succeeded)
        // It has the connection by now, and has had turns to send in.
        for _ in 0..<3 { _ = await engine.statistics }
        #expect(await engine.statistics.busy == 1)
        #expect(await engine.onLoop { held.bytesSent($0) } == 0)
        held.hold(false)
        let result = await held.outcome()
        #expect(result.text == "ok" && result.sent == content.count)
        #expect(server.connections.count == 1)
    }
}
