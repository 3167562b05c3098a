internal import CUncurlOpenSSL

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
        let path = CertificateStack()
        guard let leaf = chain.first, unsafe path.append(leaf.pointer) else { return VerifiedChain(path) }
        var candidates = Array(chain.dropFirst()) + others
        var current = leaf
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
            unsafe path.append(current.pointer)
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
