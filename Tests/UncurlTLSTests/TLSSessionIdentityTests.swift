import TestSupport
import Testing
import UncurlTLS
import UncurlTestServer

/// A handshake that stops until somebody has decided what to show.
@Suite("A server that asks for a certificate", .ownThread)
struct TLSSessionIdentityTests {
    private let localhost: TestCertificates.Identity
    private let client: TestCertificates.Identity

    init() throws {
        localhost = try TestCertificates.localhost
        client = try TestCertificates.client
    }

    private func identity() throws -> ClientIdentity {
        try ClientIdentity(pem: Array((client.chainPEM + client.keyPEM).utf8))
    }

    private func dialogue(
        _ version: TLSVersion,
        _ wish: TLSServerConfiguration.ClientCertificate,
        configured: ClientIdentity? = nil
    ) throws -> Dialogue {
        var server = TLSServerConfiguration(localhost)
        server.clientCertificate = wish
        server.maximumVersion = version
        var configuration = TLSConfiguration()
        configuration.roots = .pem(localhost.authorityPEM)
        configuration.asksAboutIdentity = true
        configuration.identity = configured
        let context = try TLSContext(configuration)
        context.trust.load()
        return try Dialogue(context, TLSServerContext(server), ServerName("localhost"))
    }

    private var wanted: [UInt8] { Array(client.authorityPEM.utf8) }

    @Test(
        "the question about an identity names the server's authorities, and is asked until it is answered",
        arguments: TLSVersion.allCases
    )
    func show(version: TLSVersion) throws {
        let dialogue = try dialogue(version, .required(wanted))
        for _ in 0..<3 {
            guard case .identity(let request) = try dialogue.advance() else { throw MemoryPair.Stopped() }
            #expect(request.name.text == "localhost")
            // A sequence of names (X.501), of one authority.
            #expect(request.authorities.count == 1 && request.authorities.first?.first == 0x30)
        }
        dialogue.client.present(.show(try identity()))
        guard case .done = try dialogue.advance() else { throw MemoryPair.Stopped() }
        try dialogue.advanceServer()
        #expect(dialogue.server.isOpen)
    }

    @Test(
        "what is configured is shown if that is the answer; with nothing, the server decides",
        arguments: TLSVersion.allCases
    )
    func configured(version: TLSVersion) throws {
        let known = try dialogue(version, .required(wanted), configured: identity())
        guard case .identity = try known.advance() else { throw MemoryPair.Stopped() }
        known.client.present(.configured)
        guard case .done = try known.advance() else { throw MemoryPair.Stopped() }
        try known.advanceServer()
        #expect(known.server.isOpen)
        let unknown = try dialogue(version, .optional(wanted))
        guard case .identity = try unknown.advance() else { throw MemoryPair.Stopped() }
        unknown.client.present(.configured)
        guard case .done = try unknown.advance() else { throw MemoryPair.Stopped() }
        try unknown.advanceServer()
        #expect(unknown.server.isOpen)
    }

    @Test("a refusal ends the handshake with its reason", arguments: TLSVersion.allCases)
    func refuse(version: TLSVersion) throws {
        let dialogue = try dialogue(version, .required(wanted))
        guard case .identity = try dialogue.advance() else { throw MemoryPair.Stopped() }
        dialogue.client.present(.refuse(reason: "not today"))
        #expect(throws: TLSError.identity(.refused("not today"))) { try dialogue.advance() }
    }

    @Test(
        "a server that asks for no certificate accepts a client with one and a client without",
        arguments: TLSVersion.allCases
    )
    func unasked(version: TLSVersion) throws {
        let dialogue = try dialogue(version, .none)
        dialogue.client.present(.refuse(reason: "nobody asked"))
        guard case .done = try dialogue.advance() else { throw MemoryPair.Stopped() }
    }
}
