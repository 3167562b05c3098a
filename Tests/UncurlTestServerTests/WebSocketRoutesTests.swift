import TestSupport
import Testing
import UncurlText
import UncurlWebSocket

@testable import UncurlTestServer

@Suite(.ownThread)
struct WebSocketRoutesTests {
    private let fields = [
        Pair(name: "connection", value: "keep-alive, Upgrade"), Pair(name: "upgrade", value: "WebSocket"),
        Pair(name: "sec-websocket-version", value: "13"),
        Pair(name: "sec-websocket-key", value: "dGhlIHNhbXBsZSBub25jZQ=="),
    ]

    private func answer(_ fields: [Pair], query: String = "", method: String = "GET") -> RouteResponse {
        var request = RouteRequest()
        (request.path, request.rawQuery, request.fields, request.method) = ("/websocket", query, fields, method)
        return RouteResponse.respond(to: request)
    }

    @Test("a handshake is answered with its key, a subprotocol and compression")
    func accepted() {
        let more = [
            Pair(name: "sec-websocket-protocol", value: "a, b"),
            Pair(name: "sec-websocket-extensions", value: "permessage-deflate"),
        ]
        let response = answer(fields + more)
        #expect(response.status == 101 && response.upgrade?.subprotocol == "a" && response.upgrade?.deflate != nil)
        #expect(response.fields.contains { $0.value == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" })
        #expect(answer(fields + more, query: "deflate=0").upgrade?.deflate == nil)
    }

    @Test("a request without an upgrade is answered with the required version")
    func refused() {
        for index in fields.indices {
            var fewer = fields
            fewer.remove(at: index)
            let response = answer(fewer)
            #expect(response.status == 426 && response.upgrade == nil)
            #expect(response.fields.contains { $0.name == "Sec-WebSocket-Version" && $0.value == "13" })
        }
        #expect(answer(fields, method: "HEAD").status == 426)
    }

    @Test("the upgrade of an HTTP/1.0 request is ignored")
    func oldVersion() {
        let server = MachineHarness()
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        _ = server.receive("GET /websocket HTTP/1.0\r\n\(lines)\r\n")
        #expect(server.text.contains("HTTP/1.1 426 "))
        let other = MachineHarness()
        _ = other.receive("GET /websocket HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
        #expect(other.text.contains("HTTP/1.1 101 "))
    }
}
