import Foundation
import ScriptedPeer
import Testing

@testable import URLLoading

@Suite("Fields that the engine derives", .timeLimit(.minutes(5)))
struct DerivedFieldsTests {
    private let server: RawServer
    private let session: URLSession

    init() throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        server = try RawServer.start(otherwise: .answering(Array(answer.utf8)))
        session = URLSession(configuration: .isolated)
    }

    private func load(_ fields: [String: String] = [:]) async throws {
        var request = URLRequest(url: try url(server.url("/")))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        #expect(try await session.data(for: request).0 == Data("ok".utf8))
    }

    /// The fields of a connection's requests that are about the connection, in lower case.
    private func sent(_ index: Int = 0) -> [String] {
        let names = ["connection:", "keep-alive:", "te:", "transfer-encoding:", "x-own:"]
        return String(decoding: server.received(index), as: UTF8.self).lowercased().components(separatedBy: "\r\n")
            .filter { line in names.contains { line.hasPrefix($0) } }
    }

    @Test("a caller's fields about the connection are left out of a GET, which succeeds, and others are sent")
    func leftOut() async throws {
        defer { session.invalidateAndCancel() }
        let fields = [
            "Connection": "keep-alive, X-Own", "Keep-Alive": "timeout=5", "TE": "trailers",
            "Transfer-Encoding": "chunked", "X-Own": "1",
        ]
        try await load(fields)
        try await load()
        #expect(sent() == ["x-own: 1"])
        #expect(server.connections.count == 1)
    }

    @Test("a caller's `Connection: close` is sent once, and the next request goes over another connection")
    func close() async throws {
        defer { session.invalidateAndCancel() }
        try await load(["Connection": "Close"])
        try await load()
        #expect(sent(0) == ["connection: close"])
        #expect(server.connections.count == 2 && sent(1) == [])
    }

    @Test("requests of one origin that follow each other have each its own target, method and fields")
    func heads() async throws {
        defer { session.invalidateAndCancel() }
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let other = try RawServer.start(otherwise: .answering(Array(answer.utf8)))
        func load(_ path: String, _ method: String = "GET", _ field: String? = nil, at place: RawServer) async throws {
            var request = URLRequest(url: try url(place.url(path)))
            request.httpMethod = method
            request.setValue(field, forHTTPHeaderField: "X-Own")
            #expect(try await session.data(for: request).0 == (method == "HEAD" ? Data() : Data("ok".utf8)))
        }
        try await load("/1", at: server)
        try await load("/2?a=%20#b", at: server)
        try await load("/3", "DELETE", at: server)
        try await load("/4", "GET", "4", at: server)
        try await load("/5", at: other)
        try await load("?6", at: server)
        let lines = { (server: RawServer) in
            String(decoding: server.received(0), as: UTF8.self).components(separatedBy: "\r\n")
                .filter { $0.hasSuffix("HTTP/1.1") || $0.hasPrefix("Host:") || $0.hasPrefix("X-Own:") }
        }
        let host = "Host: 127.0.0.1:\(server.port)"
        #expect(
            lines(server) == [
                "GET /1 HTTP/1.1", host, "GET /2?a=%20 HTTP/1.1", host, "DELETE /3 HTTP/1.1", host, "GET /4 HTTP/1.1",
                host, "X-Own: 4", "GET /?6 HTTP/1.1", host,
            ]
        )
        #expect(lines(other) == ["GET /5 HTTP/1.1", "Host: 127.0.0.1:\(other.port)"])
    }
}
