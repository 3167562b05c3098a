import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

@Suite("Client certificates after the handshake", .ownThread, .timeLimit(.minutes(10)))
struct PostHandshakeIdentityTests {
    private func identity() throws -> ClientIdentity {
        let identity = try TestCertificates.client
        return try ClientIdentity(pem: Array(identity.chainPEM.utf8), key: Array(identity.keyPEM.utf8))
    }

    private func connect(_ server: AskingServer, _ change: (inout TLSConfiguration) -> Void) throws -> BlockingClient {
        let client = try BlockingClient(try TLSFixture(client: change).context, port: server.port)
        try client.handshake()
        return client
    }

    /// The answer to a line.
    private func ask(_ client: BlockingClient, _ line: String) throws -> String {
        try client.write(line + "\n")
        return String(try client.read(until: "\n").dropLast())
    }

    @Test("a server that asks after the handshake is shown the identity, if that is allowed", arguments: [false, true])
    func shown(isProgramAsked: Bool) throws {
        let server = try AskingServer()
        let shown = try identity()
        let client = try connect(server) { configuration in
            configuration.identity = shown
            configuration.allowsPostHandshakeIdentity = true
            // The program is not asked in the middle of a connection.
            if isProgramAsked { configuration.asksAboutIdentity = true }
        }
        #expect(try ask(client, "shown") == "none")
        // A server may ask more than once.
        for _ in 0..<3 {
            #expect(try ask(client, "ask") == "asked")
            let der = try #require(shown.chain.first?.der)
            #expect(try ask(client, "shown") == hexadecimal(der))
        }
    }

    @Test("without an identity, a server that asks is shown none, and the connection continues")
    func none() throws {
        let server = try AskingServer()
        let client = try connect(server) { $0.allowsPostHandshakeIdentity = true }
        for _ in 0..<2 {
            #expect(try ask(client, "ask") == "asked")
            #expect(try ask(client, "shown") == "none")
        }
    }

    @Test("by default no server may ask after the handshake, and the connection continues")
    func off() throws {
        let server = try AskingServer()
        let shown = try identity()
        let client = try connect(server) { $0.identity = shown }
        #expect(try ask(client, "ask") == "EXTENSION_NOT_RECEIVED")
        #expect(try ask(client, "shown") == "none")
    }

    private func hexadecimal(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
