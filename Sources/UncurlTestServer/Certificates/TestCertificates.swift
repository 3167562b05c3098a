internal import CUncurlOpenSSL

/// Ready-made certificates for tests over loopback, made in memory once per process.
public enum TestCertificates {
    /// A server's or client's certificates, and the authority that its peer must trust.
    public struct Identity: Sendable {
        /// The authority that signed the chain.
        public let authority: TestCertificate
        /// The certificate of the server or client.
        public let leaf: TestCertificate
        /// The authority's certificate, which a client trusts.
        public let authorityPEM: String
        /// The leaf and the certificates between it and the authority, which a server sends.
        public let chainPEM: String
        /// The leaf's private key.
        public let keyPEM: String

        /// An identity of existing certificates.
        public init(
            authority: TestCertificate,
            leaf: TestCertificate,
            intermediates: [TestCertificate] = []
        ) throws(TestCertificateError) {
            self.authority = authority
            self.leaf = leaf
            authorityPEM = authority.pem
            chainPEM = leaf.pem + intermediates.map(\.pem).joined()
            keyPEM = try leaf.key.pem()
        }
    }

    /// For `localhost`, `127.0.0.1` and `::1`; P-256.
    public static var localhost: Identity { get throws(TestCertificateError) { try madeLocalhost.get() } }

    /// A client's certificate of another authority than `localhost`'s.
    public static var client: Identity { get throws(TestCertificateError) { try madeClient.get() } }

    /// A server's certificate for these names (`DNS:…`, `IP:…`), by an authority of its own.
    public static func identity(_ names: [String], kind: TestKey.Kind = .p256) throws(TestCertificateError) -> Identity
    {
        let authority = try numbered(.authority("Test Authority")).selfSigned(try TestKey(kind))
        return try Identity(
            authority: authority,
            leaf: numbered(.server(names)).issued(by: authority, key: try TestKey(kind))
        )
    }

    /// With a serial number of its own: a client refuses two certificates with the same issuer and number (RFC 5280
    /// §4.1.2.2), and the issuers of all runs have the same name.
    private static func numbered(_ builder: CertificateBuilder) -> CertificateBuilder {
        var builder = builder
        builder.serial = .random(in: 1...UInt64(Int64.max))
        return builder
    }

    private static let madeLocalhost = made { () throws(TestCertificateError) in
        try identity(["DNS:localhost", "IP:127.0.0.1", "IP:::1"])
    }

    private static let madeClient = made { () throws(TestCertificateError) in
        let authority = try numbered(.authority("Test Client Authority")).selfSigned()
        return try Identity(authority: authority, leaf: numbered(.client("client")).issued(by: authority))
    }

    private static func made(
        _ make: () throws(TestCertificateError) -> Identity
    ) -> Result<Identity, TestCertificateError> {
        do throws(TestCertificateError) { return .success(try make()) } catch { return .failure(error) }
    }
}
