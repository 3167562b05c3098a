internal import COpenSSL

/// Why a chain is not trusted, in words, and which certificate it is about.
public struct TrustFailure: Error, Hashable, Sendable {
    /// What is wrong with the chain.
    public enum Reason: Hashable, Sendable {
        /// The peer sent no certificate.
        case noCertificate
        /// The certificate was valid until then.
        case expired(since: CertificateDate)
        /// The certificate begins to be valid then.
        case notYetValid(until: CertificateDate)
        /// A date of the certificate's validity cannot be read.
        case unreadableDate
        /// `found` is what the certificate is for, at most ``TrustFailure/namesShown`` names; `more` counts the rest.
        case wrongHost(expected: String, found: [String], more: Int)
        /// The peer made its certificate itself, and it is not among the roots.
        case selfSigned
        /// The chain ends in a root that came from the peer and is not trusted.
        case untrustedRoot(String)
        /// No known certificate is this issuer's.
        case unknownIssuer(String)
        /// The peer sent its own certificate alone, and the issuer is not among the roots: mostly a server that was not
        /// given its intermediate certificates.
        case incompleteChain(issuer: String)
        /// More certificates lie between the peer's and a root than the policy allows.
        case chainTooLong
        /// The certificate is for other uses than to name a server, or a client.
        case wrongPurpose(CertificatePurpose)
        /// An issuer that may not sign certificates.
        case notAnAuthority
        /// More certificates follow an authority than its path length allows (RFC 5280 §4.2.1.9).
        case pathTooLong
        /// A name lies outside of what an authority may certify (RFC 5280 §4.2.1.10).
        case nameConstraints
        /// An authority's name constraints are empty, or hold what is no name.
        case unusableNameConstraints
        /// A certificate that is no authority's has name constraints.
        case misplacedNameConstraints
        /// An extension that is marked critical is not understood (RFC 5280 §4.2).
        case unknownCriticalExtension
        /// A key is shorter than the security level allows.
        case weakKey
        /// DSA, of whatever length.
        case dsaKey
        /// A signature's digest is weaker than the security level allows.
        case weakSignature
        /// A signature does not verify.
        case badSignature
        /// A public key cannot be read.
        case unreadableKey
        /// A certificate breaks its own syntax.
        case malformed
        /// Refused by the strict rules alone (RFC 5280 to the letter).
        case unprofiled
        /// The roots, or their settings, exclude this certificate or its use.
        case distrusted
        /// The certificate was revoked, by a list or a stapled response.
        case revoked
        /// Lists were given, and none of them is the issuer's.
        case revocationListMissing
        /// The issuer's list is past its next update.
        case revocationListExpired
        /// The issuer's list is not valid yet.
        case revocationListNotYetValid
        /// The issuer's list cannot be read, or its signature does not verify.
        case revocationListUnusable
        /// The policy requires a stapled OCSP response, and there is none.
        case stapleMissing
        /// The stapled OCSP response proves nothing.
        case stapleUnusable(StapleFault)
        /// The SHA-256 of the leaf's public key, as a pin is written.
        case pinMismatch(leaf: String)
        /// OpenSSL found no memory.
        case outOfMemory
        /// What OpenSSL has no other name for.
        case other
    }

    /// What is wrong.
    public let reason: Reason
    /// 0: the peer's own certificate, 1: its issuer, and so on.
    public let depth: Int
    /// The subject of the certificate at that depth, in the form of RFC 4514.
    public let subject: String
    /// X509_V_ERR_…; picks the alert that the peer is sent.
    public let code: Int32

    /// How many names an error lists: enough to see what a host serves, few enough for one line.
    public static let namesShown = 8

    /// A failure from its parts.
    public init(reason: Reason, depth: Int = 0, subject: String = "", code: Int32) {
        self.reason = reason
        self.depth = depth
        self.subject = subject
        self.code = code
    }

    /// What OpenSSL calls it.
    public var openSSLText: String { unsafe String(cString: X509_verify_cert_error_string(Int(code))) }
}

extension TrustFailure: CustomStringConvertible {
    public var description: String {
        if subject.isEmpty { return words }
        return depth == 0 ? "\(words) (\(subject))" : "\(words) (\(subject), number \(depth) above the server's)"
    }

    private var words: String {
        switch reason {
        case .noCertificate: "the peer sent no certificate"
        case .expired(let date): "the certificate expired on \(date)"
        case .notYetValid(let date): "the certificate is not valid before \(date)"
        case .unreadableDate: "a date in the certificate cannot be read"
        case .wrongHost(let expected, let found, let more): wrongHost(expected, found, more)
        case .selfSigned: "the certificate is self-signed"
        case .untrustedRoot(let root): "the root \(root) is not trusted"
        case .unknownIssuer(let issuer): "the issuer \(issuer) is not known"
        case .incompleteChain(let issuer):
            "the chain is incomplete: the peer sent no certificate of the issuer \(issuer)"
        case .chainTooLong: "the chain is too long"
        case .wrongPurpose(.server): "the certificate may not be used by a server"
        case .wrongPurpose(.client): "the certificate may not be used by a client"
        case .notAnAuthority: "an issuer is no certificate authority"
        case .pathTooLong: "more certificates follow than an authority's path length allows"
        case .nameConstraints: "a name is outside the constraints of its authority"
        case .unusableNameConstraints: "an authority's name constraints are empty, or hold what is no name"
        case .misplacedNameConstraints: "the certificate has name constraints, which only an authority may have"
        case .unknownCriticalExtension: "the certificate has a critical extension that is not understood"
        case .weakKey: "a key is too weak"
        case .dsaKey: "a key is one of DSA, which is not accepted any more"
        case .weakSignature: "a signature algorithm is too weak"
        case .badSignature: "a signature is wrong"
        case .unreadableKey: "a public key cannot be read"
        case .malformed: "a certificate is malformed (\(openSSLText))"
        case .unprofiled: "a certificate breaks the strict rules (\(openSSLText))"
        case .distrusted: "the certificate is excluded from trust (\(openSSLText))"
        case .revoked: "the certificate is revoked"
        case .revocationListMissing: "no revocation list of the certificate's issuer was given"
        case .revocationListExpired: "the revocation list has expired"
        case .revocationListNotYetValid: "the revocation list is not valid yet"
        case .revocationListUnusable: "the revocation list cannot be used (\(openSSLText))"
        case .stapleMissing: "the server stapled no OCSP response"
        case .stapleUnusable(let fault): "the stapled OCSP response is of no use: \(fault)"
        case .pinMismatch(let leaf): "no pin matches; the server's key is \(leaf)"
        case .outOfMemory: "out of memory"
        case .other: openSSLText
        }
    }

    private func wrongHost(_ expected: String, _ found: [String], _ more: Int) -> String {
        let expected = AddressText.isAddress(expected) ? "the address \(expected)" : expected
        if found.isEmpty { return "the certificate names no host, so it is not for \(expected)" }
        let rest = more > 0 ? " and \(more) more" : ""
        return "the certificate is for \(found.joined(separator: ", "))\(rest), not for \(expected)"
    }
}
