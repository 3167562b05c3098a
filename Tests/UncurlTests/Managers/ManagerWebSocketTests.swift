import FacadeTestSupport
import Foundation
import TestSupport
import Testing
import Uncurl
import UncurlTestServer

@Suite("WebSockets of a manager", .timeLimit(.minutes(5)))
struct ManagerWebSocketTests {
    private let server: TestServer

    init() throws { server = try TestServer.start() }

    @Test("subprotocols are offered, and the server's choice is read from the task")
    func chosen() async throws {
        let task = try server.manager().webSocketTask("websocket", protocols: ["second", "third"])
        #expect(task.chosenProtocol == nil)
        task.resume()
        try await task.send(.string("x"))
        _ = try await task.receive()
        #expect(task.chosenProtocol == "second")
        task.cancel(with: .normalClosure, reason: nil)
    }

    @Test("without subprotocols there is no choice")
    func none() async throws {
        let task = try server.manager().webSocketTask("websocket")
        task.resume()
        try await task.send(.string("x"))
        _ = try await task.receive()
        #expect(task.chosenProtocol == nil)
        task.cancel(with: .normalClosure, reason: nil)
    }

    @Test(
        "a subprotocol that is not a token, or is offered twice, is an error with the field's name",
        arguments: [["chat\r\nX-Evil: 1"], ["a b"], ["a,b"], [""], ["a", "a"]]
    )
    func refused(_ protocols: [String]) {
        #expect {
            _ = try server.manager().webSocketTask("websocket", protocols: protocols)
        } throws: { error in
            if case UncurlError.header("Sec-WebSocket-Protocol") = error { true } else { false }
        }
    }

    @Test(
        "a session's own WebSocket with a subprotocol that cannot be offered fails, and nothing is sent",
        arguments: [["chat\r\nX-Evil: 1"], ["a b"], ["a,b"], [""], ["a", "a"], ["a", ""]]
    )
    func refusedBySession(_ protocols: [String]) async throws {
        let before = server.requestCount
        let manager = server.manager()
        let url = try #require(URL(string: server.url("/websocket").replacing("http:", with: "ws:")))
        let task = manager.session.webSocketTask(with: url, protocols: protocols)
        task.resume()
        await #expect { _ = try await task.receive() } throws: { ($0 as? URLError)?.code == .badURL }
        manager.cancelAll()
        #expect(server.requestCount == before)
    }

    @Test("a request whose subprotocols were refused, or have a blank in one, makes a WebSocket that fails")
    func refusedField() async throws {
        let before = server.requestCount
        let url = try #require(URL(string: server.url("/websocket").replacing("http:", with: "ws:")))
        let manager = server.manager()
        for value in ["chat\r\nX-Evil: 1", "a b"] {
            var request = URLRequest(url: url)
            request.setValue(value, forHTTPHeaderField: "Sec-WebSocket-Protocol")
            let task = manager.session.webSocketTask(with: request)
            task.resume()
            await #expect { _ = try await task.receive() } throws: { ($0 as? URLError)?.code == .badURL }
        }
        manager.cancelAll()
        #expect(server.requestCount == before)
    }
}
