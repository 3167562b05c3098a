import Foundation
import Testing
import UncurlTestServer

@testable import URLLoading

@Suite("Silent WebSockets", .timeLimit(.minutes(5)))
struct WebSocketSilenceTests {
    @Test("a request's own time limit ends a WebSocket whose server sends nothing; a pong restarts it")
    func silent() async throws {
        let server = try TestServer.start()
        let session = URLSession(configuration: .isolated)
        defer { session.invalidateAndCancel() }
        let place = try #require(URL(string: "ws://127.0.0.1:\(server.port)/websocket"))
        let task = session.webSocketTask(with: URLRequest(url: place, timeoutInterval: 1))
        task.resume()
        let start = ContinuousClock.now
        while ContinuousClock.now - start < .milliseconds(1500) { try await task.sendPing() }
        do {
            _ = try await task.receive()
            Issue.record("nothing was sent")
        } catch {
            #expect((error as? URLError)?.code == .timedOut)
        }
    }
}
