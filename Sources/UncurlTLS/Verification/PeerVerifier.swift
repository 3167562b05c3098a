internal import CUncurlOpenSSL

/// Decides whether a chain proves that the peer is the one it should be: a function of the chain, the name, the roots,
/// the time, the revocation lists and the policy. Handshakes and tests call the same one.
public enum PeerVerifier {
    /// Verifies a chain.
    ///
    /// - Parameters:
    ///   - chain: What the peer sent, its own certificate first, the others in any order.
    ///   - name: The name to check. Nil checks no name, as for a client's certificate.
    ///   - anchors: The roots that a chain may end in.
    ///   - policy: The other conditions for the chain.
    ///   - time: The time of the check. Nil for now.
    ///   - stapledResponse: The OCSP response (RFC 6960) that came in the handshake, in DER.
    public static func verify(
        _ chain: [Certificate],
        name: ServerName?,
        anchors: TrustAnchors,
        policy: VerificationPolicy = VerificationPolicy(),
        at time: CertificateDate? = nil,
        stapledResponse: [UInt8]? = nil
    ) -> Result<VerifiedChain, TLSTrustFailure> {
        guard !chain.isEmpty else {
            return .failure(TLSTrustFailure(reason: .noCertificate, code: X509_V_ERR_UNSPECIFIED))
        }
        return verifyPath(chain, name: name, anchors: anchors, policy: policy, at: time).flatMap { found in
            let failure = policy.failure(ofStaple: stapledResponse, path: found.path, at: time)
            return failure.map { .failure($0) } ?? .success(found.chain)
        }
    }

    /// Checks, for a handshake, everything but the stapled response, which may come later than the certificates.
    static func verifyPath(
        _ sent: [Certificate],
        name: ServerName?,
        anchors: TrustAnchors,
        policy: VerificationPolicy,
        at time: CertificateDate? = nil
    ) -> Result<(chain: VerifiedChain, path: [Certificate]), TLSTrustFailure> {
        var search = PathSearch(sent: sent, name: name, anchors: anchors, policy: policy, time: time)
        return search.run().flatMap { path in
            let chain = VerifiedChain(path)
            return Pin.failure(policy.pins, chain).map { .failure($0) } ?? .success((chain, path))
        }
    }

}

/// Single rules of a verification, for callers that deliberately leave out the others.
extension PeerVerifier {
    /// The most signatures that are checked for a peer. No public path is longer than half of it.
    private static let linkAttempts = 32

    /// Returns what signatures alone prove: the peer's own certificate, its issuer, that one's issuer and so on. Dates,
    /// names, uses and roots are not checked, so the result tells which keys the peer holds and not what to trust. It
    /// does not contain a certificate that the peer merely sent along and that signed nothing of the path.
    ///
    /// - Parameters:
    ///   - chain: What the peer sent, its own certificate first.
    ///   - others: Certificates that the peer may have left out.
    public static func linked(_ chain: [Certificate], others: [Certificate] = []) -> VerifiedChain {
        guard var current = chain.first else { return VerifiedChain([]) }
        var path = [current]
        var candidates = Array(chain.dropFirst()) + others
        var attempts = 0
        while attempts < linkAttempts {
            let found = candidates.firstIndex { candidate in
                guard attempts < linkAttempts, unsafe X509_cmp(candidate.pointer, current.pointer) != 0,
                    unsafe X509_check_issued(candidate.pointer, current.pointer) == X509_V_OK
                else { return false }
                attempts += 1
                return unsafe X509_verify(current.pointer, X509_get0_pubkey(candidate.pointer)) == 1
            }
            guard let found else { break }
            current = candidates.remove(at: found)
            path.append(current)
        }
        ERR_clear_error()
        return VerifiedChain(path)
    }

    /// Checks that the certificate is for that name or address, and nothing else. Returns nil if it is.
    public static func nameFailure(_ leaf: Certificate, _ name: ServerName) -> TLSTrustFailure? {
        let matches =
            if name.isAddress {
                unsafe X509_check_ip_asc(leaf.pointer, name.text, CUnsignedInt(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
                    == 1
            } else {
                unsafe name.isNamed(in: leaf.pointer)
            }
        ERR_clear_error()
        guard !matches else { return nil }
        return unsafe TLSTrustFailure(
            reason: TLSTrustFailure.wrongHost(name, leaf: leaf.pointer),
            subject: CertificateFacts.text(X509_get_subject_name(leaf.pointer)),
            code: X509_V_ERR_HOSTNAME_MISMATCH
        )
    }
}

/// The conditions for a chain, beside the name, the roots and the time.
public struct VerificationPolicy: Sendable {
    /// What a stapled OCSP response means (RFC 6066 §8).
    public enum Stapling: Hashable, Sendable {
        /// The response is neither requested nor checked.
        case ignored
        /// A response that came must be good. A missing one is no fault.
        case checked
        /// A good response must come.
        case required
    }

    /// Whether the chain is a client's, and not a server's: which extended key usage it must allow (RFC 5280
    /// §4.2.1.12).
    public var isForClient = false
    /// The revocation lists. If there are any, each certificate of the chain must be covered by one, except the roots
    /// where they sign the lists.
    public var revocationLists: RevocationLists?
    /// What a stapled OCSP response means.
    public var stapling = Stapling.ignored
    /// The pins, of which one must match. Empty for no pinning.
    public var pins: [Pin] = []
    /// Whether X509_V_FLAG_X509_STRICT is set. Off by default: it refuses corporate and even public roots without key
    /// identifiers.
    public var isStrict = false
    /// The most certificates between the peer's own and the trust anchor, 0 to 100. Each costs a peer nothing, and this
    /// side the check of a signature. Self-issued ones, by which an authority changes its key, do not count (RFC 5280
    /// §6.1.4 (l)); 100 are the most with them.
    public var maximumDepth = Self.defaultDepth

    /// The default of ``maximumDepth``. Public paths have one to three between them.
    public static let defaultDepth = 16

    /// Makes a policy with the properties' initial values.
    public init() {}
}
