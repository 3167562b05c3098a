import UncurlTLS
import UncurlTestServer

/// What most tests need: a client that trusts the server's root.
struct TLSFixture {
    let identity: TestCertificates.Identity
    let context: TLSContext
    let serverContext: TLSServerContext

    init(
        client: (inout TLSConfiguration) -> Void = { _ in },
        server: (inout TLSServerConfiguration) -> Void = { _ in }
    ) throws {
        identity = try TestCertificates.localhost
        var configuration = TLSConfiguration()
        configuration.roots = .pem(Array(identity.authorityPEM.utf8))
        client(&configuration)
        context = try TLSContext(configuration)
        context.trust.load()
        var serverConfiguration = TLSServerConfiguration(identity)
        server(&serverConfiguration)
        serverContext = try TLSServerContext(serverConfiguration)
    }

    func pair(name: String = "localhost", scope: String = "") throws -> MemoryPair {
        try MemoryPair(context, serverContext, name: name, scope: scope)
    }

    /// A pair whose handshake is done and whose tickets have come.
    func connected() throws -> MemoryPair {
        let pair = try pair()
        try pair.run()
        return pair
    }
}
