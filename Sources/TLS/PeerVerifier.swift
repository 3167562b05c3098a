internal import COpenSSL

/// Decides whether a chain proves that the peer is who it should be: a function of the chain, the name, the roots, the
/// time, the revocation lists and the policy. Handshakes and tests call the same one.
public enum PeerVerifier {
    /// OpenSSL takes the first path that it finds and does not look back. So a certificate that failed, other than the
    /// leaf, is left out and the search is made again. What passes has passed a full verification, so this accepts
    /// nothing that OpenSSL would not. Eight find every path of real cross-signings, and bound the work a peer can ask for.
    static let attemptLimit = 8

    /// Public paths have two to five certificates; a peer gets no more of them checked than this many signatures each.
    static let depthLimit: CInt = 16

    /// Keys below 112 bits of strength and SHA-1 signatures are refused, whatever the distribution compiled in.
    static let securityLevel: CInt = 2

    /// - Parameters:
    ///   - chain: what the peer sent, its own certificate first, the others in any order.
    ///   - name: nil checks no name, as for a client's certificate.
    ///   - time: nil for now.
    ///   - stapledResponse: the OCSP response (RFC 6960) that came in the handshake, in DER.
    public static func verify(
        _ chain: [Certificate],
        name: ServerName?,
        anchors: TrustAnchors,
        policy: VerificationPolicy = VerificationPolicy(),
        at time: CertificateDate? = nil,
        stapledResponse: [UInt8]? = nil
    ) -> Result<VerifiedChain, TrustFailure> {
        guard let leaf = unsafe chain.first?.pointer else {
            return .failure(TrustFailure(reason: .noCertificate, code: X509_V_ERR_UNSPECIFIED))
        }
        let sent = CertificateStack()
        for one in chain { unsafe sent.append(one.pointer) }
        let found = unsafe verify(leaf: leaf, sent: sent, name: name, anchors: anchors, policy: policy, at: time)
        return found.flatMap { found in
            let failure = StapledResponse.failure(stapledResponse, path: found.path, policy: policy, time: time)
            return failure.map { .failure($0) } ?? .success(found.chain)
        }
    }

    /// What a handshake calls: everything but the stapled response, which may come later than the certificates.
    static func verify(
        leaf: OpaquePointer,
        sent: CertificateStack,
        name: ServerName?,
        anchors: TrustAnchors,
        policy: VerificationPolicy,
        at time: CertificateDate? = nil
    ) -> Result<(chain: VerifiedChain, path: CertificateStack), TrustFailure> {
        let subject = unsafe Subject(leaf: leaf, name: name, anchors: anchors, policy: policy, time: time)
        return subject.verify(sent).flatMap { path in
            let chain = VerifiedChain(path)
            return Pin.failure(policy.pins, chain).map { .failure($0) } ?? .success((chain, path))
        }
    }

    /// The digests of what was sent, the leaf's first, without any verification.
    static func presented(leaf: OpaquePointer, untrusted: OpaquePointer?) -> VerifiedChain {
        let stack = CertificateStack()
        unsafe stack.append(leaf)
        let others = unsafe CertificateStack(copying: untrusted)
        for index in 0..<others.count where unsafe X509_cmp(others[index], leaf) != 0 {
            unsafe stack.append(others[index])
        }
        return VerifiedChain(stack)
    }

    /// What stays the same from one attempt to the next.
    @safe private struct Subject {
        let leaf: OpaquePointer
        let name: ServerName?
        let anchors: TrustAnchors
        let policy: VerificationPolicy
        let time: CertificateDate?

        /// The path found, or the first failure: a later one ("issuer not known") only tells that the search went on.
        func verify(_ sent: CertificateStack) -> Result<CertificateStack, TrustFailure> {
            var waiting = [sent]
            var first: TrustFailure?
            var attempts = 0
            while attempts < attemptLimit, attempts < waiting.count {
                let untrusted = waiting[attempts]
                attempts += 1
                switch attempt(untrusted) {
                case .verified(let path): return .success(path)
                case .failed(let failure, let rest):
                    first = first ?? failure
                    waiting += rest.prefix(attemptLimit - waiting.count)
                }
            }
            return .failure(first ?? outOfMemory)
        }

        private enum Attempt {
            case verified(CertificateStack)
            /// With what is left to try.
            case failed(TrustFailure, [CertificateStack])
        }

        private var outOfMemory: TrustFailure { TrustFailure(reason: .outOfMemory, code: X509_V_ERR_OUT_OF_MEM) }

        private func attempt(_ untrusted: CertificateStack) -> Attempt {
            ERR_clear_error()
            defer { ERR_clear_error() }
            guard let context = unsafe X509_STORE_CTX_new() else { return .failed(outOfMemory, []) }
            defer { unsafe X509_STORE_CTX_free(context) }
            guard unsafe X509_STORE_CTX_init(context, anchors.store, leaf, untrusted.handle) == 1,
                unsafe configure(context)
            else { return .failed(outOfMemory, []) }
            if unsafe X509_verify_cert(context) == 1 {
                return unsafe .verified(CertificateStack(adopting: X509_STORE_CTX_get1_chain(context)))
            }
            let failure = unsafe TrustFailure(context, name: name, policy: policy)
            return unsafe .failed(failure, suspects(context, failure, untrusted).map { unsafe untrusted.removing($0) })
        }

        private func configure(_ context: OpaquePointer) -> Bool {
            guard let parameters = unsafe X509_STORE_CTX_get0_param(context) else { return false }
            unsafe X509_VERIFY_PARAM_set_auth_level(parameters, securityLevel)
            unsafe X509_VERIFY_PARAM_set_depth(parameters, depthLimit)
            var flags: UInt = 0
            if policy.isStrict { flags |= UInt(X509_V_FLAG_X509_STRICT) }
            if let lists = policy.revocationLists {
                unsafe X509_STORE_CTX_set0_crls(context, lists.stack)
                // A path that stops at an intermediate anchor has no issuer to check that one's revocation by.
                flags |= UInt(X509_V_FLAG_CRL_CHECK) | UInt(X509_V_FLAG_CRL_CHECK_ALL)
            } else {
                flags |= UInt(X509_V_FLAG_PARTIAL_CHAIN)
            }
            if let time { unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(time.secondsSince1970)) }
            let purpose =
                switch policy.purpose {
                case .server: X509_PURPOSE_SSL_SERVER
                case .client: X509_PURPOSE_SSL_CLIENT
                }
            // Sets the trust setting that belongs to the purpose, too.
            guard unsafe X509_STORE_CTX_set_purpose(context, purpose) == 1,
                unsafe X509_VERIFY_PARAM_set_flags(parameters, flags) == 1
            else { return false }
            return unsafe setName(parameters)
        }

        /// The common name is never looked at, for addresses neither: else constraints on names were applied to it, too.
        private func setName(_ parameters: OpaquePointer) -> Bool {
            guard let name else { return true }
            let rules = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
            unsafe X509_VERIFY_PARAM_set_hostflags(parameters, CUnsignedInt(rules))
            if name.isAddress { return unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name.text) == 1 }
            return unsafe X509_VERIFY_PARAM_set1_host(parameters, name.text, name.text.utf8.count) == 1
        }

        /// The certificates of the path that may be to blame and that the peer sent; never the leaf.
        private func suspects(
            _ context: OpaquePointer,
            _ failure: TrustFailure,
            _ untrusted: CertificateStack
        ) -> [OpaquePointer] {
            let path = unsafe CertificateStack(copying: X509_STORE_CTX_get0_chain(context))
            let top =
                switch failure.reason {
                // The blame lies with an issuer above the certificate that OpenSSL names.
                case .nameConstraints, .badSignature: path.count
                default: failure.depth + 1
                }
            var found: [OpaquePointer] = unsafe []
            for depth in max(failure.depth, 1)..<max(top, failure.depth + 1, 2) {
                guard let one = unsafe path[depth], unsafe untrusted.contains(one), unsafe X509_cmp(one, leaf) != 0
                else { continue }
                unsafe found.append(one)
            }
            return unsafe found
        }
    }
}
