import Testing
import UncurlHTTP1
import UncurlSemantics
import UncurlWebSocket

@testable import UncurlEngine

@Suite struct WebSocketRequestTests {
    @Test("ws and wss URLs name http and https origins, in any case")
    func urls() throws {
        let plain = try HTTPURL(webSocket: "ws://Example.test/chat?a=1#x")
        #expect(plain.scheme == .http && plain.port == 80 && plain.target == "/chat?a=1")
        let secure = try HTTPURL(webSocket: "WSS://[::1]:9/")
        #expect(secure.scheme == .https && secure.port == 9)
        #expect(throws: HTTPURL.Problem.scheme("http")) { try HTTPURL(webSocket: "http://x/") }
        #expect(throws: HTTPURL.Problem.noScheme) { try HTTPURL(webSocket: "x") }
        #expect(throws: HTTPURL.Problem.empty) { try HTTPURL(webSocket: "") }
    }

    @Test("fields of the handshake are not the caller's to send")
    func reserved() throws {
        let origin = try Origin(host: "x.test")
        for name in ["Sec-WebSocket-Key", "sec-websocket-version", "Sec-WebSocket-Extensions"] {
            var fields = HTTPFields()
            try fields.append(name, "1")
            #expect(throws: EngineError.self) {
                try EngineRequest(webSocket: ClientHandshake(), origin: origin, target: "/", fields: fields)
            }
        }
    }
}
