import UncurlTLS
import UncurlTestServer

/// A certificate chain, the settings of its verification and the expected result, for the verifier as a function and
/// for real handshakes.
public struct CertificateCase: Sendable, CustomStringConvertible {
    /// The reason why a chain is refused.
    public enum Ground: String, Sendable {
        /// The lifetime of a certificate is over or has not begun.
        case expired, notYetValid
        /// The certificate is for another host (RFC 9525).
        case wrongHost
        /// The chain does not lead to a trusted authority.
        case selfSigned, untrustedRoot, unknownIssuer, incompleteChain, chainTooLong
        /// A certificate is used for a purpose that it does not allow (RFC 5280 §4.2.1.3, §4.2.1.9, §4.2.1.12).
        case wrongPurpose, notAnAuthority, pathTooLong
        /// A name is outside the name constraints, or the constraints cannot be checked (RFC 5280 §4.2.1.10).
        case nameConstraints, unusableNameConstraints, misplacedNameConstraints
        /// A certificate has an unknown critical extension (RFC 5280 §4.2).
        case unknownCriticalExtension
        /// A key is too short or of an obsolete algorithm.
        case weakKey, dsaKey
        /// A signature uses a broken digest or is wrong, or the octets are not a certificate.
        case weakSignature, badSignature, malformed
        /// A revocation list names the certificate, or a required list is missing, out of date or unusable.
        case revoked, revocationListMissing, revocationListExpired, revocationListUnusable
        /// A required stapled response (RFC 6960) is missing or unusable.
        case stapleMissing, stapleUnusable
        /// The chain breaks the profile of RFC 5280, which a strict verifier checks.
        case unprofiled
    }

    /// How a server serves the chain, apart from the certificate.
    public enum Serving: Sendable {
        /// As any server would.
        case ordinary
        /// TLS 1.2 only.
        case oldVersion
        /// TLS 1.3 only: with TLS 1.2, OpenSSL's server cannot use such a key.
        case newVersion
        /// No answer to ALPN.
        case withoutALPN
    }

    /// The subject of the case, for a test's title.
    public let name: String
    /// The chain that the server sends, its own certificate with its key first.
    public let chain: [TestCertificate]
    /// The authorities that the verifier trusts.
    public let roots: [TestCertificate]
    /// The host as it is written in a URL.
    public let host: String
    /// The expected reason; nil where the chain is accepted.
    public let ground: Ground?
    /// Revocation lists in PEM; nil for no check.
    public var revocationLists: String?
    /// Whether the verifier refuses a chain without a stapled response.
    public var isStaplingRequired = false
    /// The OCSP response that the server staples, in DER; nil for none.
    public var stapledResponse: [UInt8]?
    /// Whether the verifier checks the whole profile of RFC 5280.
    public var isStrict = false
    /// How the server serves the chain.
    public var serving = Serving.ordinary

    /// The case's ``name``.
    public var description: String { name }

    init(
        _ name: String,
        _ chain: [TestCertificate],
        roots: [TestCertificate],
        host: String = "a.test",
        _ ground: Ground? = nil
    ) {
        self.name = name
        self.chain = chain
        self.roots = roots
        self.host = host
        self.ground = ground
    }

    func with(_ change: (inout CertificateCase) -> Void) -> CertificateCase {
        var copy = self
        change(&copy)
        return copy
    }
}

extension CertificateCase {
    /// The verification policy, without the name and the roots.
    public var policy: VerificationPolicy {
        get throws(CertificateError) {
            var policy = VerificationPolicy()
            policy.isStrict = isStrict
            policy.stapling = isStaplingRequired ? .required : .ignored
            if let lists = revocationLists { policy.revocationLists = try RevocationLists(Array(lists.utf8)) }
            return policy
        }
    }

    /// A client with the settings of the case.
    public var client: TLSConfiguration {
        get throws(CertificateError) {
            var client = TLSConfiguration()
            client.roots = roots.isEmpty ? TrustRoots([]) : .pem(roots.map(\.pem).joined())
            client.policy = try policy
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
        case .withoutALPN: server.applicationProtocol = nil
        }
        return server
    }

    /// Whether this failure is the expected one.
    public func isMet(by failure: TLSTrustFailure) -> Bool {
        ground?.rawValue == String("\(failure.reason)".prefix { $0 != "(" })
    }
}
