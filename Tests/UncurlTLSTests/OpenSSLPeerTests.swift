import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// Our sessions against OpenSSL's own programs.
@Suite("openssl s_server and s_client", .ownThread, .serialized)
struct OpenSSLPeerTests {
    private let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func start(_ arguments: [String]) throws -> OpenSSLServer {
        let identity = try TestCertificates.localhost
        return try OpenSSLServer(chain: identity.chainPEM, key: identity.keyPEM, arguments)
    }

    @Test("each version is spoken, and resumed at every reconnect but the first", arguments: [TLSVersion.v1_2, .v1_3])
    func resumption(version: TLSVersion) throws {
        let server = try start(["-www", version == .v1_2 ? "-tls1_2" : "-tls1_3"])
        let context = try TLSFixture().context
        var resumed = 0
        for _ in 0..<100 {
            let client = try BlockingClient(context, port: server.port)
            try client.handshake()
            try client.write(request)
            #expect(try client.read(until: "</pre></BODY>").hasPrefix("HTTP/1.0 200"))
            let info = try #require(client.session.info)
            #expect(info.version == version)
            if info.isResumed { resumed += 1 }
            client.close()
        }
        #expect(resumed >= 99)
    }

    @Test("versions of the last century are refused by name", arguments: ["-tls1", "-tls1_1"])
    func oldVersions(version: String) throws {
        let server = try start([version, "-cipher", "ALL:@SECLEVEL=0"])
        let client = try BlockingClient(try TLSFixture().context, port: server.port)
        let error = #expect(throws: TLSError.self) { try client.handshake() }
        #expect(error == .unsupportedVersion || error == .alert(TLSAlert(code: 70)), "\(String(describing: error))")
    }

    @Test("key updates by the server, asked back for or not, hold nothing up", arguments: ["k", "K"])
    func keyUpdate(command: String) throws {
        let server = try start(["-tls1_3"])
        let client = try BlockingClient(try TLSFixture().context, port: server.port)
        try client.handshake()
        for round in 0..<3 {
            server.type("before \(round)")
            _ = try client.read(until: "before \(round)\n")
            server.type(command)
            try server.wait(for: "SSL_do_handshake -> 1", times: round + 1)
            server.type("after \(round)")
            _ = try client.read(until: "after \(round)\n")
            try client.write("answer \(round)\n")
            try server.wait(for: "answer \(round)")
        }
    }

    @Test("a renegotiation is refused without harm to what runs")
    func renegotiation() throws {
        let server = try start(["-tls1_2"])
        let client = try BlockingClient(try TLSFixture().context, port: server.port)
        try client.handshake()
        server.type("before")
        _ = try client.read(until: "before\n")
        server.type("R")
        // s_server gives the connection up over the refusal; that is an end with a name, and no wait for ever.
        #expect(throws: TLSError.self) { while try client.read() != nil {} }
    }

    @Test("a missing client certificate is told with the first read in TLS 1.3, in the handshake in TLS 1.2")
    func clientCertificateMissing() throws {
        for version in ["-tls1_2", "-tls1_3"] {
            let server = try start(["-Verify", "1", "-verify_return_error", version])
            let client = try BlockingClient(try TLSFixture().context, port: server.port)
            let error = #expect(throws: TLSError.self) {
                try client.handshake()
                #expect(version == "-tls1_3")
                _ = try client.read()
            }
            let code: UInt8 = version == "-tls1_3" ? 116 : 40
            #expect(error == .alert(TLSAlert(code: code)))
        }
    }

    @Test("a close_notify of s_server's ends the stream; a killed one cuts it off")
    func ends() throws {
        let context = try TLSFixture().context
        let polite = try start(["-www"])
        let first = try BlockingClient(context, port: polite.port)
        try first.handshake()
        try first.write(request)
        _ = try first.read(until: "</pre></BODY>")
        while try first.read() != nil {}
        let rude = try start([])
        let second = try BlockingClient(context, port: rude.port)
        try second.handshake()
        rude.type("a line")
        _ = try second.read(until: "a line\n")
        rude.kill()
        #expect(throws: TLSError.truncated) { _ = try second.read() }
    }

    @Test("s_client resumes at our server", arguments: ["-tls1_2", "-tls1_3"])
    func ourServer(version: String) throws {
        let server = try TestServer.start(tls: try TLSFixture().serverContext)
        defer { server.stop() }
        let arguments = [
            "s_client", "-connect", "127.0.0.1:\(server.port)", "-servername", "localhost", "-alpn", "h2,http/1.1",
            "-reconnect", version, "-ign_eof",
        ]
        let request = "GET /get HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        let text = try EndedProgram("/usr/bin/openssl", arguments, input: request).out
        #expect(text.contains("ALPN protocol: http/1.1"))
        #expect(text.contains("HTTP/1.1 200 OK"))
        // s_client reconnects before any ticket of TLS 1.3 can have come.
        if version == "-tls1_2" { #expect(text.ranges(of: "Reused, TLSv1.2").count == 5) }
    }
}
