internal import CUncurlOpenSSL

/// Why a chain is not trusted, in words, and which certificate the reason is about.
public struct TLSTrustFailure: Error, Hashable, Sendable {
    /// What is wrong with the chain.
    public enum Reason: Hashable, Sendable {
        /// The peer sent no certificate.
        case noCertificate
        /// The certificate was valid until this date.
        case expired(since: CertificateDate)
        /// The certificate is not valid before this date.
        case notYetValid(until: CertificateDate)
        /// A date of the certificate's validity cannot be read.
        case unreadableDate
        /// The certificate is for other names: `found` has at most ``TLSTrustFailure/namesShown`` of them, `more`
        /// counts the rest.
        case wrongHost(expected: String, found: [String], more: Int)
        /// The peer made its certificate itself, and it is not among the roots.
        case selfSigned
        /// The chain ends in a root that came from the peer and is not trusted.
        case untrustedRoot(String)
        /// The issuer's certificate is not known.
        case unknownIssuer(String)
        /// The peer sent its own certificate alone, and the issuer is not among the roots. Most such servers were not
        /// given their intermediate certificates.
        case incompleteChain(issuer: String)
        /// More certificates lie between the peer's and a root than the policy allows.
        case chainTooLong
        /// The certificate's uses do not include the one that the verification is for, a client's or a server's.
        case wrongPurpose(isClient: Bool)
        /// An issuer is not allowed to sign certificates.
        case notAnAuthority
        /// More certificates follow an authority than its path length allows (RFC 5280 §4.2.1.9).
        case pathTooLong
        /// A name lies outside of what an authority may certify (RFC 5280 §4.2.1.10).
        case nameConstraints
        /// An authority's name constraints are empty, or contain a value that is no name.
        case unusableNameConstraints
        /// A certificate that is not an authority's has name constraints.
        case misplacedNameConstraints
        /// An extension that is marked critical is not understood (RFC 5280 §4.2).
        case unknownCriticalExtension
        /// A key is shorter than the security level allows.
        case weakKey
        /// A key is one of DSA, of any length.
        case dsaKey
        /// A signature's digest is weaker than the security level allows.
        case weakSignature
        /// A signature does not verify.
        case badSignature
        /// A public key cannot be read.
        case unreadableKey
        /// A certificate breaks its own syntax.
        case malformed
        /// The certificate is refused by the strict rules alone (RFC 5280 to the letter).
        case unprofiled
        /// The roots, or their settings, exclude this certificate or its use.
        case distrusted
        /// The certificate was revoked, by a list or a stapled response.
        case revoked
        /// There are revocation lists, and none of them is the issuer's.
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
        /// No pin matches. `leaf` is the SHA-256 of the leaf's public key, in the form of a pin.
        case pinMismatch(leaf: String)
        /// OpenSSL could not allocate memory.
        case outOfMemory
        /// Another failure, for which only OpenSSL has a name.
        case other
    }

    /// What is wrong.
    public let reason: Reason
    /// The certificate's place in the chain: 0 for the peer's own, 1 for its issuer, and so on.
    public let depth: Int
    /// The subject of the certificate at that depth, in the form of RFC 4514.
    public let subject: String
    /// The X509_V_ERR_… code, which selects the alert that is sent to the peer.
    public let code: Int32

    /// The number of names that an error lists: enough to see what a host serves, few enough for one line.
    public static let namesShown = 8

    /// Makes a failure from its parts.
    public init(reason: Reason, depth: Int = 0, subject: String = "", code: Int32) {
        self.reason = reason
        self.depth = depth
        self.subject = subject
        self.code = code
    }

    /// OpenSSL's text for the code.
    public var openSSLText: String { unsafe String(cString: X509_verify_cert_error_string(Int(code))) }
}

extension TLSTrustFailure: CustomStringConvertible {
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
        case .wrongPurpose(let isClient): "the certificate may not be used by a \(isClient ? "client" : "server")"
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
        let expected = isAddress(expected) ? "the address \(expected)" : expected
        if found.isEmpty { return "the certificate names no host, so it is not for \(expected)" }
        let rest = more > 0 ? " and \(more) more" : ""
        return "the certificate is for \(found.joined(separator: ", "))\(rest), not for \(expected)"
    }
}

/// Why a stapled OCSP response proves nothing (RFC 6960).
public enum StapleFault: Hashable, Sendable, CustomStringConvertible {
    /// The response cannot be read as an OCSP response.
    case unreadable
    /// The responder answered with an error. The number is that of RFC 6960 §4.2.1.
    case unsuccessful(Int)
    /// The response is about other certificates.
    case notAboutThisCertificate
    /// The signer is neither the issuer nor a responder that the issuer delegated to.
    case wrongSigner
    /// The response's signature does not verify.
    case badSignature
    /// The response is not valid before this date.
    case notYetValid(CertificateDate)
    /// The response was valid until this date.
    case expired(CertificateDate)
    /// The responder does not know the certificate.
    case unknownCertificate

    public var description: String {
        switch self {
        case .unreadable: "it cannot be read"
        case .unsuccessful(let code): "the responder failed with status \(code)"
        case .notAboutThisCertificate: "it is about another certificate"
        case .wrongSigner: "it is not signed by the issuer or its delegate"
        case .badSignature: "its signature is wrong"
        case .notYetValid(let date): "it is not valid before \(date)"
        case .expired(let date): "it expired on \(date)"
        case .unknownCertificate: "the responder does not know the certificate"
        }
    }
}
