public import URLLoading
internal import UncurlTLS

extension SecurityPolicy {
    public func evaluate(_ trust: URLServerTrust, host: String) throws(TrustFailure) {
        try Evaluation(policy: self, trust: trust.trust, host: host).run()
    }
}

/// Compares one server with one policy.
private struct Evaluation {
    let policy: SecurityPolicy
    let trust: PeerTrust
    let host: String

    func run() throws(TrustFailure) {
        if policy.allowsInvalidCertificates, policy.validatesDomainName, hasNoPins {
            throw failure(.contradiction, "the policy allows any certificate and relies on it for the host's name")
        }
        if policy.allowsInvalidCertificates, policy.pinningMode != .certificate, !policy.revocationLists.isEmpty {
            throw failure(.contradiction, "the policy allows any certificate and relies on revocation lists for each")
        }
        switch policy.pinningMode {
        case .none:
            if !policy.allowsInvalidCertificates { _ = try chain() }
        case .publicKey:
            let keys = policy.pinnedKeys
            guard !keys.isEmpty else { throw noPins }
            let chain = policy.allowsInvalidCertificates ? try linkedChain() : try chain()
            guard chain.spkiSHA256.contains(where: { keys.contains(PublicKeyPin(digest: $0)) }) else {
                throw mismatch
            }
        case .certificate:
            guard !policy.certificates.isEmpty else { throw noPins }
            if !policy.allowsInvalidCertificates { _ = try chain() }
            let digests = Set(policy.certificates.map(\.sha256))
            let chain = try verified(TrustAnchors(policy.certificates.map(\.certificate)))
            guard chain.certificateSHA256.contains(where: digests.contains) else { throw mismatch }
        }
    }

    /// Whether there is nothing to compare with. In the mode `none`, pins are ignored.
    private var hasNoPins: Bool {
        switch policy.pinningMode {
        case .none: true
        case .publicKey: policy.pinnedKeys.isEmpty
        case .certificate: policy.certificates.isEmpty
        }
    }

    // MARK: Chains

    /// The chain that ends in a trusted root.
    private func chain() throws(TrustFailure) -> VerifiedChain {
        switch policy.roots {
        case .system: return try bySystem()
        case .only(let roots): return try verified(TrustAnchors(roots.map(\.certificate)))
        case .systemAnd(let roots):
            do throws(TrustFailure) { return try bySystem() } catch {
                let other = Result { () throws(TrustFailure) in
                    try verified(TrustAnchors(roots.map(\.certificate)))
                }
                // The failure with the system's roots is the better known one, unless it only says that the authority
                // is unknown.
                if case .failure(let failure) = other, error.reason != .unknownAuthority { throw failure }
                return try other.get()
            }
        }
    }

    private func bySystem() throws(TrustFailure) -> VerifiedChain {
        // The session has already verified this chain with the system's roots and this name.
        if policy.validatesDomainName, policy.revocationLists.isEmpty, trust.name == (try name()) {
            do throws(TLSTrustFailure) { return try trust.verdict.get() } catch {
                throw TrustFailure(error, host: host)
            }
        }
        switch SystemAnchors.load() {
        case .success(let anchors): return try verified(anchors)
        case .failure(let error): throw failure(.rootsUnavailable, "\(error)")
        }
    }

    private func verified(_ anchors: TrustAnchors) throws(TrustFailure) -> VerifiedChain {
        var rules = VerificationPolicy()
        rules.revocationLists = try revocations()
        let name = policy.validatesDomainName ? try name() : nil
        do throws(TLSTrustFailure) {
            return try PeerVerifier.verify(trust.sent, name: name, anchors: anchors, policy: rules).get()
        } catch {
            throw TrustFailure(error, host: host)
        }
    }

    /// Checks only the signatures of the chain, without a root. A pinned certificate that is sent beside a foreign
    /// chain proves nothing.
    private func linkedChain() throws(TrustFailure) -> VerifiedChain {
        guard let leaf = trust.sent.first else { throw failure(.noCertificate, "the server sent no certificate") }
        if policy.validatesDomainName, let fault = PeerVerifier.nameFailure(leaf, try name()) {
            throw TrustFailure(fault, host: host)
        }
        return PeerVerifier.linked(trust.sent, others: policy.certificates.map(\.certificate))
    }

    private func name() throws(TrustFailure) -> ServerName {
        do throws(TLSError) { return try ServerName(host) } catch {
            throw failure(.invalidHost, "“\(host)” is neither a host name nor an address")
        }
    }

    private func revocations() throws(TrustFailure) -> RevocationLists? {
        guard !policy.revocationLists.isEmpty else { return nil }
        do throws(RevocationListError) { return try RevocationList.joined(policy.revocationLists) } catch {
            throw failure(.revocationUnknown, "\(error)")
        }
    }

    // MARK: Words

    private func failure(_ reason: TrustFailure.Reason, _ words: String) -> TrustFailure {
        TrustFailure(host: host, reason: reason, words: words)
    }

    private var noPins: TrustFailure { failure(.noPins, "\(SecurityPolicyError.noPins)") }

    private var mismatch: TrustFailure {
        let key = PublicKeyPin(digest: trust.presented.spkiSHA256.first ?? []).description
        let what = policy.pinningMode == .certificate ? "certificate" : "key"
        return failure(.noPinMatches(leafKey: key), "no \(what) of its chain is pinned; its own key is \(key)")
    }
}

/// The system's roots. They are read when a policy first needs them and then kept: reading takes some thirty
/// milliseconds.
private enum SystemAnchors {
    private static let store = TrustStore.shared(.system)

    static func load() -> Result<TrustAnchors, TrustStoreError> { store.load() }
}
