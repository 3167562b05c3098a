import FacadeTestSupport
import Foundation
import TestServer
import TestSupport
import Testing
import Uncurl

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
        "a subprotocol that is no token, and one that is offered twice, is an error with the field's name",
        arguments: [["chat\r\nX-Evil: 1"], ["a b"], ["a,b"], [""], ["a", "a"]]
    )
    func refused(_ protocols: [String]) {
        #expect {
            _ = try server.manager().webSocketTask("websocket", protocols: protocols)
        } throws: { error in
            if case UncurlError.header("Sec-WebSocket-Protocol") = error { true } else { false }
        }
    }
}
