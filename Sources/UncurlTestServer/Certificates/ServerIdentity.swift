public import UncurlTLS

extension TLSServerConfiguration {
    /// A server with the chain of a made identity.
    public init(_ identity: TestCertificates.Identity) {
        self.init(certificate: .init(identity))
    }
}

extension TLSServerConfiguration.Certificate {
    /// A made identity's chain and key.
    public init(_ identity: TestCertificates.Identity) {
        self.init(chain: Array(identity.chainPEM.utf8), key: Array(identity.keyPEM.utf8))
    }
}
