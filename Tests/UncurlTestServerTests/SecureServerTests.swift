import ScriptedPeer
import TestSupport
import Testing
import UncurlReactor
import UncurlTLS
import UncurlTestServer

@Suite("The test servers over TLS", .ownThread)
struct SecureServerTests {
    private func context(_ change: (inout TLSServerConfiguration) -> Void = { _ in }) throws -> TLSServerContext {
        var configuration = TLSServerConfiguration(try TestCertificates.localhost)
        change(&configuration)
        return try TLSServerContext(configuration)
    }

    private let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("routes answer over TLS, pipelined and in bulk, and know their scheme")
    func routes() throws {
        let server = try TestServer.start(tls: context())
        defer { server.stop() }
        #expect(server.url("/get").hasPrefix("https://127.0.0.1:"))
        let client = try SecureRawClient(server.port)
        let count = 300_000
        try client.send(
            "GET /get HTTP/1.1\r\nHost: localhost\r\n\r\n"
                + "GET /bytes/\(count) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        let answer = try client.readToEnd()
        #expect(client.sawCloseNotify)
        let text = String(decoding: answer.prefix(2000), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.contains("\"url\": \"https://localhost/get\""))
        #expect(answer.count > count)
        #expect(server.requestCount == 2)
        #expect(server.responsesSent == 2)
    }

    @Test("an upload is taken over TLS")
    func upload() throws {
        let server = try TestServer.start(tls: context())
        defer { server.stop() }
        let client = try SecureRawClient(server.port)
        let body = String(repeating: "x", count: 200_000)
        try client.send(
            "POST /upload HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n" + body
        )
        let answer = String(decoding: try client.readToEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains("200000"))
    }

    @Test("bytes that are not TLS end the connection, and the server continues")
    func garbage() throws {
        let server = try TestServer.start(tls: context())
        defer { server.stop() }
        let plain = try RawClient(server.address)
        try plain.send(request)
        while try !plain.receiveSome().isEmpty {}
        let client = try SecureRawClient(server.port)
        try client.send("GET /status/204 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(try client.readToEnd().starts(with: Array("HTTP/1.1 204".utf8)))
    }

    @Test("a script runs on plaintext; the record tells name, version and close_notify", arguments: [0, 1, 100])
    func script(recordSize: Int) throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        let script: RawScript = [.records(of: recordSize), .receive(.headEnd), .send(answer), .startOver]
        let server = try RawServer.start([script.secured(by: context())])
        defer { server.stop() }
        let client = try SecureRawClient(server.port)
        for _ in 0..<2 {
            try client.send(request)
            #expect(try client.read(answer.utf8.count) == Array(answer.utf8))
        }
        client.close()
        let record = try server.wait(for: 0, "close_notify") { $0.sawCloseNotify }
        #expect(record.receivedText == request + request)
        #expect(record.tls?.version == .v1_3)
        #expect(record.serverName == "localhost")
        #expect(record.tlsError == nil)
    }

    @Test("with one byte per send and new keys in between, the same bytes arrive")
    func pieces() throws {
        let answer = String(repeating: "0123456789", count: 50)
        let script: RawScript = [
            .pieces(of: 1), .handshake(try context()), .receive(.headEnd), .send(answer), .keyUpdate(askingPeer: true),
            .send(answer), .closeNotify, .finish,
        ]
        let server = try RawServer.start([script])
        defer { server.stop() }
        let client = try SecureRawClient(server.port)
        try client.send(request)
        #expect(try client.readToEnd() == Array((answer + answer).utf8))
        #expect(client.sawCloseNotify)
    }

    @Test("an end without close_notify is a truncation", arguments: [RawEnding.fin, .reset])
    func truncation(ending: RawEnding) throws {
        let script: RawScript = [.handshake(try context()), .receive(.headEnd), .send("half")]
        let server = try RawServer.start([RawScript(script.steps + [ending == .fin ? .finish : .reset])])
        defer { server.stop() }
        let client = try SecureRawClient(server.port)
        try client.send(request)
        _ = try client.readToEnd()
        #expect(!client.sawCloseNotify)
    }

    @Test("a flood is encrypted in each round; tickets and unencrypted bytes are sent where the script says")
    func flood() throws {
        let text = "0123456789abcdef"
        let flooding: RawScript = [.ticket, .flood(Array(text.utf8))]
        let damaging: RawScript = [.send("fine"), .receive(.headEnd), .raw(Array("not a record".utf8))]
        let server = try RawServer.start([flooding.secured(by: context()), damaging.secured(by: context())])
        defer { server.stop() }
        let client = try SecureRawClient(server.port)
        #expect(try client.read(16 * 10_000) == Array(String(repeating: text, count: 10_000).utf8))
        let second = try SecureRawClient(server.port)
        #expect(try second.read(4) == Array("fine".utf8))
        try second.send(request)
        #expect(throws: TLSError.self) { try second.readToEnd() }
    }

    @Test("plain bytes first, then TLS on the same connection, as behind a proxy")
    func tunnel() throws {
        let script: RawScript = [
            .receive(.headEnd), .send("HTTP/1.1 200 OK\r\n\r\n"), .handshake(try context()), .receive(.headEnd),
            .send("inside"), .closeNotify, .close,
        ]
        let server = try RawServer.start([script])
        defer { server.stop() }
        let client = try SecureRawClient(server.port, connect: "CONNECT localhost:443 HTTP/1.1\r\n\r\n")
        try client.send(request)
        #expect(try client.readToEnd() == Array("inside".utf8))
        #expect(server.connections[0].receivedText.hasPrefix("CONNECT "))
    }

    @Test("a client that does not trust the server sends an alert")
    func distrust() throws {
        let server = try RawServer.start([RawScript([.receive(.headEnd)]).secured(by: context())])
        defer { server.stop() }
        #expect(throws: TLSError.self) {
            try SecureRawClient(server.port, trusting: try TestCertificates.client.authorityPEM)
        }
        let record = try server.wait(for: 0, "an alert") { $0.tlsError != nil }
        #expect(record.tlsError == .alert(TLSAlert(code: 48)))
    }

    @Test("the certificate follows the name that the client indicates")
    func certificatesByName() throws {
        let other = try TestCertificates.identity(["DNS:other.test"])
        let server = try RawServer.start(
            otherwise: RawScript([.receive(.headEnd)]).secured(
                by: context { $0.certificatesByName = ["Other.test": .init(other)] }
            )
        )
        defer { server.stop() }
        _ = try SecureRawClient(server.port, name: "other.test", trusting: other.authorityPEM)
        _ = try SecureRawClient(server.port)
        #expect(throws: TLSError.self) { try SecureRawClient(server.port, name: "other.test") }
    }
}
