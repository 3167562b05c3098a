import TLS
import TestServer
import TestSupport
import Testing

/// Client certificates that a server asks for after the handshake, by OpenSSL's own server.
@Suite("Client certificates after the handshake", .ownThread, .serialized)
struct PostHandshakeIdentityTests {
    private func server() throws -> OpenSSLServer {
        let identity = try TestCertificates.localhost
        return try OpenSSLServer(chain: identity.chainPEM, key: identity.keyPEM, ["-tls1_3", "-msg"])
    }

    private func client(
        of server: OpenSSLServer,
        shows: Bool = true,
        _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> BlockingClient {
        var configuration = TLSConfiguration()
        configuration.roots = .pem(try TestCertificates.localhost.authorityPEM)
        if shows {
            let identity = try TestCertificates.client
            configuration.identity = try ClientIdentity(
                pem: Array(identity.chainPEM.utf8),
                key: Array(identity.keyPEM.utf8)
            )
        }
        change(&configuration)
        return try BlockingClient(try TLSContext(configuration), port: server.port)
    }

    /// Text goes both ways, before and after the server has asked.
    private func asks(_ server: OpenSSLServer, _ client: BlockingClient) throws {
        try client.handshake()
        server.type("before")
        _ = try client.read(until: "before\n")
        server.type("c")
        try server.wait(for: "CertificateRequest")
        server.type("after")
        _ = try client.read(until: "after\n")
        try client.write("answer\n")
        try server.wait(for: "answer")
    }

    @Test("a server that asks after the handshake is shown the identity, if that is allowed", arguments: [false, true])
    func shown(isAskedFirst: Bool) throws {
        let server = try server()
        let client = try client(of: server) { configuration in
            configuration.allowsPostHandshakeIdentity = true
            // No program is asked in the middle of a connection: the identity of the configuration is shown.
            if isAskedFirst { configuration.identityDecision = .asks }
        }
        try asks(server, client)
        // The server's own, and the proof of the client's key.
        try server.wait(for: "CertificateVerify", times: 2)
    }

    @Test("without an identity the server is told that there is none, and the connection goes on")
    func none() throws {
        let server = try server()
        try asks(server, client(of: server, shows: false) { $0.allowsPostHandshakeIdentity = true })
        // An empty list, with a context of 32 octets.
        try server.wait(for: "Handshake [length 0028], Certificate")
    }

    @Test("unless it is allowed, no server is told that it may ask, and s_server cannot")
    func off() throws {
        let server = try server()
        let client = try client(of: server)
        try client.handshake()
        server.type("c")
        try server.wait(for: "Failed to initiate request")
        server.type("after")
        _ = try client.read(until: "after\n")
    }
}
