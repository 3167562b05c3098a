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
        guard let leaf = unsafe chain.first?.pointer else {
            return .failure(TLSTrustFailure(reason: .noCertificate, code: X509_V_ERR_UNSPECIFIED))
        }
        let sent = CertificateStack()
        for one in chain { unsafe sent.append(one.pointer) }
        let found = unsafe verify(leaf: leaf, sent: sent, name: name, anchors: anchors, policy: policy, at: time)
        return found.flatMap { found in
            let failure = StapledResponse.failure(stapledResponse, path: found.path, policy: policy, time: time)
            return failure.map { .failure($0) } ?? .success(found.chain)
        }
    }

    /// Checks, for a handshake, everything but the stapled response, which may come later than the certificates.
    static func verify(
        leaf: OpaquePointer,
        sent: CertificateStack,
        name: ServerName?,
        anchors: TrustAnchors,
        policy: VerificationPolicy,
        at time: CertificateDate? = nil
    ) -> Result<(chain: VerifiedChain, path: CertificateStack), TLSTrustFailure> {
        var search = unsafe PathSearch(leaf: leaf, sent: sent, name: name, anchors: anchors, policy: policy, time: time)
        return search.run().flatMap { path in
            let chain = VerifiedChain(path)
            return Pin.failure(policy.pins, chain).map { .failure($0) } ?? .success((chain, path))
        }
    }

    /// Returns the digests of the certificates that were sent, the leaf's first, without any verification.
    static func presented(leaf: OpaquePointer, untrusted: OpaquePointer?) -> VerifiedChain {
        let stack = CertificateStack()
        unsafe stack.append(leaf)
        let others = unsafe CertificateStack(copying: untrusted)
        for index in 0..<others.count where unsafe X509_cmp(others[index], leaf) != 0 {
            unsafe stack.append(others[index])
        }
        return VerifiedChain(stack)
    }
}
