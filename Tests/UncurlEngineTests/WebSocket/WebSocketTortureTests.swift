import Synchronization
import TestSupport
import Testing
import UncurlHTTP1
import UncurlReactor
import UncurlTestServer
import UncurlWebSocket

@testable import UncurlEngine

/// Every system call of a conversation fails once: somebody is told, once, and nothing is left.
@Suite("Every system call of a WebSocket fails once", .ownThread, .serialized, .timeLimit(.minutes(5)))
struct WebSocketTortureTests {
    /// More than a socket takes at once, and nothing that compression could make small.
    private static let noise: [UInt8] = (0..<300_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }

    @Test("a handshake, a message there and back, and a close", arguments: TortureTests.errnos)
    func conversation(errno: Errno) async throws {
        let server = try TestServer.start()
        defer { server.stop() }
        let url = "ws://\(Torture.host):\(server.port)/websocket"
        let calls = try await Torture { engine in [await Self.converse(engine, url)] }.run(failing: errno)
        #expect(calls >= 20)
    }

    private static func converse(_ engine: EngineHarness, _ url: String) async -> Recorded {
        var result = Recorded()
        do {
            let ear = Ear { socket, _ in socket.close(.none) }
            let talk = try await Talk.open(engine, url, ClientHandshake(deflate: nil), ear)
            let left = Counter()
            await talk.on { socket in socket.send(.binary(noise)) { _ in left.add() } }
            await left.reaches(1)
            await ear.ends.reaches(1)
            let heard = ear.heard
            result.outcomes = heard.endings.count
            if case .binary(let bytes)? = heard.messages.first { result.body = bytes }
            if heard.endings != [.success(.none)] { result.error = .connectionLost(nil) }
        } catch let refused as Talk.Refused {
            result = refused.result
        } catch {
            Issue.record("\(error)")
        }
        // The transport is the server's to close.
        var left = await engine.remains.registrations
        for _ in 0..<100_000 where left > 0 { left = await engine.remains.registrations }
        return result
    }
}
