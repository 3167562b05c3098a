public import UncurlTLS

extension CertificateCase {
    /// The verification policy, without the name and the roots.
    public var policy: VerificationPolicy {
        get throws(RevocationListError) {
            var policy = VerificationPolicy()
            policy.isStrict = isStrict
            policy.stapling = isStaplingRequired ? .required : .ignored
            if let lists = revocationLists { policy.revocationLists = try RevocationLists(Array(lists.utf8)) }
            return policy
        }
    }

    /// A client with the settings of the case.
    public var client: TLSConfiguration {
        get throws(RevocationListError) {
            let policy = try policy
            var client = TLSConfiguration()
            client.roots = roots.isEmpty ? TrustRoots([]) : .pem(roots.map(\.pem).joined())
            client.isStrict = policy.isStrict
            client.stapling = policy.stapling
            client.revocationLists = policy.revocationLists
            return client
        }
    }

    /// A server with the chain, even a weak one, in this TLS version unless the case requires another.
    public func server(_ version: TLSVersion) throws(TestCertificateError) -> TLSServerConfiguration {
        let key = try chain.first?.key.pem() ?? ""
        var server = TLSServerConfiguration(
            certificate: .init(chain: Array(chain.map(\.pem).joined().utf8), key: Array(key.utf8))
        )
        server.securityLevel = 0
        server.stapledResponse = stapledResponse
        (server.minimumVersion, server.maximumVersion) = (version, version)
        switch serving {
        case .ordinary: break
        case .oldVersion: (server.minimumVersion, server.maximumVersion) = (.v1_2, .v1_2)
        case .newVersion: (server.minimumVersion, server.maximumVersion) = (.v1_3, .v1_3)
        case .withoutALPN: server.applicationProtocol = .none
        }
        return server
    }

    /// Whether this failure is the expected one.
    public func isMet(by failure: TLSTrustFailure) -> Bool {
        ground?.rawValue == String("\(failure.reason)".prefix { $0 != "(" })
    }
}
