import TLS
import TestServer
import Testing

/// The same cases as the verifier's, each served by a session of ours to a session of ours.
@Suite("Certificate matrix, live")
struct LiveMatrixTests {
    @Test("a handshake decides every case as stated, in both versions of TLS", arguments: TLSVersion.allCases)
    func handshakes(version: TLSVersion) throws {
        for one in try CertificateMatrix.cases() {
            let pair = try one.pair(version)
            do {
                try pair.run()
                #expect(one.ground == nil, "\(one) was accepted")
                let info = try #require(pair.client.info)
                #expect(info.chain?.leafSHA256.count == 32)
                #expect(info.applicationProtocol == (one.serving == .withoutALPN ? nil : "http/1.1"))
            } catch TLSError.untrusted(let failure) {
                let verdict = Result<VerifiedChain, TrustFailure>.failure(failure)
                #expect(verdict.ground == one.ground?.rawValue, "\(one): \(failure)")
            } catch {
                Issue.record("\(one): \(error)")
            }
        }
    }

    @Test(
        "a peer that is refused hears the alert that fits",
        arguments: [
            ("expired", 45), ("wrong host", 42), ("revoked", 44), ("untrusted root, sent", 48), ("no staple", 113),
        ] as [(String, UInt8)]
    )
    func alerts(name: String, code: UInt8) throws {
        let one = try #require(try CertificateMatrix.cases().first { $0.name == name })
        let pair = try one.pair(.v1_3)
        #expect(throws: TLSError.self) { try pair.run() }
        #expect(throws: TLSError.alert(TLSAlert(code: code))) { while true { try pair.stepServer() } }
    }
}

extension CertificateCase {
    fileprivate func pair(_ version: TLSVersion) throws -> MemoryPair {
        var client = TLSConfiguration()
        client.roots = .pem(roots.map(\.pem).joined())
        if roots.isEmpty { client.roots = TrustRoots([]) }
        client.isStrict = isStrict
        client.stapling = isStaplingRequired ? .required : .ignored
        if let lists = revocationLists { client.revocationLists = try RevocationLists(Array(lists.utf8)) }
        let certificates = chain.map(\.pem).joined()
        var server = TLSServerConfiguration(
            certificate: .init(chain: Array(certificates.utf8), key: Array(try chain[0].key.pem().utf8))
        )
        server.securityLevel = 0
        server.stapledResponse = stapledResponse
        server.minimumVersion = version
        server.maximumVersion = version
        switch serving {
        case .ordinary: break
        case .oldVersion: (server.minimumVersion, server.maximumVersion) = (.v1_2, .v1_2)
        case .newVersion: (server.minimumVersion, server.maximumVersion) = (.v1_3, .v1_3)
        case .withoutALPN: server.applicationProtocol = .none
        }
        let context = try TLSContext(client)
        try _ = context.trust.load().get()
        return try MemoryPair(context, try TLSServerContext(server), name: host)
    }
}
