internal import CUncurlOpenSSL

/// The algorithms that a client offers.
struct AlgorithmOffer {
    /// OpenSSL's default without static RSA, CBC with SHA-1 and DSA.
    static let ciphers = "DEFAULT:!kRSA:!SHA1:!aDSS"

    /// OpenSSL's default without DSA. A mark precedes each algorithm that a library may lack, which OpenSSL understands
    /// from 3.3 on.
    private static let signatures = ["?mldsa65:?mldsa87:?mldsa44:" + common + brainpool, common]

    private static let common =
        "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448"
        + ":rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512"
        + ":rsa_pss_rsae_sha256:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512"
        + ":RSA+SHA256:RSA+SHA384:RSA+SHA512:ECDSA+SHA224:RSA+SHA224"

    private static let brainpool =
        ":?ecdsa_brainpoolP256r1tls13_sha256:?ecdsa_brainpoolP384r1tls13_sha384:?ecdsa_brainpoolP512r1tls13_sha512"

    private let configuration: TLSConfiguration

    init(_ configuration: TLSConfiguration) { self.configuration = configuration }

    func install(in owned: OwnedContext) throws(TLSError) {
        let allowsLegacy = configuration.allowsLegacyAlgorithms
        try owned.setCiphers(
            configuration.ciphers ?? (allowsLegacy ? nil : Self.ciphers),
            suites: configuration.cipherSuites
        )
        defer { OpenSSLErrors.forget() }
        if !allowsLegacy {
            // A library without one of them keeps its own list: keys of DSA are not trusted in either case
            // (``PathRules``).
            _ = Self.signatures.contains { unsafe uncurl_ctx_set_signatures(owned.handle, $0) == 1 }
        }
        if let groups = configuration.groups, unsafe uncurl_ctx_set_groups(owned.handle, groups) != 1 {
            throw .configuration("groups \(groups)")
        }
    }
}
