internal import CUncurlOpenSSL

/// Searches for a good path from a leaf to an anchor. OpenSSL takes the first path that it finds and does not look
/// back. So the search leaves out a certificate that failed, and asks OpenSSL again. A path that passes has passed a
/// full verification of OpenSSL's and ``PathRules``, so the search accepts nothing that OpenSSL would not.
@safe struct PathSearch {
    /// The most attempts: enough to find every path of real cross-signings, and a bound of the work that a peer can
    /// cause.
    static let attemptLimit = 8

    /// The range of depths. No policy exceeds it.
    private static let depths = 0...100

    /// Keys below 112 bits of strength and SHA-1 signatures are refused, whatever the distribution compiled in.
    static let securityLevel: CInt = 2

    let leaf: OpaquePointer
    let sent: CertificateStack
    let name: ServerName?
    let anchors: TrustAnchors
    let policy: VerificationPolicy
    let time: CertificateDate?
    /// How often the search has asked OpenSSL for a path.
    private(set) var attemptCount = 0

    /// Certificates of `sent` by their bits. Those after the first 64 are never left out.
    private typealias Selection = UInt64

    /// Returns the path, or the first failure: a later one ("issuer not known") only tells that the search continued.
    mutating func run() -> Result<CertificateStack, TLSTrustFailure> {
        var likely: [Selection] = [0]
        var unlikely: [Selection] = []
        var known: Set<Selection> = [0]
        var first: TLSTrustFailure?
        while attemptCount < Self.attemptLimit, let left = likely.first ?? unlikely.first {
            attemptCount += 1
            if likely.isEmpty { unlikely.removeFirst() } else { likely.removeFirst() }
            switch attempt(without: left) {
            case .verified(let path): return .success(path)
            case .failed(let failure, let suspects):
                first = first ?? failure
                for (index, suspect) in suspects.selections.enumerated() {
                    let next = left | suspect
                    guard known.insert(next).inserted else { continue }
                    if index < suspects.likely { likely.append(next) } else { unlikely.append(next) }
                }
            }
        }
        return .failure(first ?? outOfMemory)
    }

    private enum Attempt {
        case verified(CertificateStack)
        case failed(TLSTrustFailure, Suspects)
    }

    /// The certificates to leave out next, one at a time.
    private struct Suspects {
        var selections: [Selection] = []
        /// How many of them, from the first on, may have caused OpenSSL's error.
        var likely = 0
    }

    private var outOfMemory: TLSTrustFailure { TLSTrustFailure(reason: .outOfMemory, code: X509_V_ERR_OUT_OF_MEM) }

    private func attempt(without left: Selection) -> Attempt {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let context = unsafe X509_STORE_CTX_new() else { return .failed(outOfMemory, Suspects()) }
        defer { unsafe X509_STORE_CTX_free(context) }
        let untrusted = left == 0 ? sent : remaining(left)
        guard unsafe X509_STORE_CTX_init(context, anchors.store, leaf, untrusted.handle) == 1,
            unsafe configure(context)
        else { return .failed(outOfMemory, Suspects()) }
        guard unsafe X509_verify_cert(context) == 1 else {
            let failure = unsafe TLSTrustFailure(context, name: name, policy: policy)
            let path = unsafe CertificateStack(copying: X509_STORE_CTX_get0_chain(context))
            return .failed(failure, suspects(path, failure))
        }
        let path = unsafe CertificateStack(adopting: X509_STORE_CTX_get1_chain(context))
        guard let failure = PathRules.failure(path, maximumDepth: depth, isStrict: policy.isStrict) else {
            return .verified(path)
        }
        return .failed(failure, suspects(path, failure))
    }

    private var depth: Int { min(max(policy.maximumDepth, Self.depths.lowerBound), Self.depths.upperBound) }

    private func remaining(_ left: Selection) -> CertificateStack {
        let rest = CertificateStack()
        for index in 0..<sent.count where index >= Selection.bitWidth || left & (1 << index) == 0 {
            unsafe rest.append(sent[index])
        }
        return rest
    }

    private func configure(_ context: OpaquePointer) -> Bool {
        guard let parameters = unsafe X509_STORE_CTX_get0_param(context) else { return false }
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        // OpenSSL counts self-issued certificates, which do not count (RFC 5280 §6.1.4 (l)): `PathRules` counts again.
        let selfIssued = (0..<sent.count).count { index in
            unsafe sent[index].map { unsafe PathRules.isSelfIssued($0) } ?? false
        }
        unsafe X509_VERIFY_PARAM_set_depth(parameters, CInt(clamping: min(depth + selfIssued, Self.depths.upperBound)))
        var flags: UInt = 0
        if policy.isStrict { flags |= UInt(X509_V_FLAG_X509_STRICT) }
        if let lists = policy.revocationLists {
            unsafe X509_STORE_CTX_set0_crls(context, lists.stack)
            // A path that stops at an intermediate anchor has no issuer to check that anchor's revocation with.
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
        // This also sets the trust setting that belongs to the purpose.
        guard unsafe X509_STORE_CTX_set_purpose(context, purpose) == 1,
            unsafe X509_VERIFY_PARAM_set_flags(parameters, flags) == 1
        else { return false }
        return unsafe setName(parameters)
    }

    /// Sets the name to verify, if the certificate does not have it: then OpenSSL reports that among the other faults.
    /// OpenSSL's own comparison lets no wildcard stand for a label with an underscore. The common name is never
    /// checked, not even for addresses: otherwise name constraints would apply to it, too.
    private func setName(_ parameters: OpaquePointer) -> Bool {
        guard let name else { return true }
        let rules = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
        unsafe X509_VERIFY_PARAM_set_hostflags(parameters, CUnsignedInt(rules))
        if name.isAddress { return unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name.text) == 1 }
        if unsafe name.isNamed(in: leaf) { return true }
        return unsafe X509_VERIFY_PARAM_set1_host(parameters, name.text, name.text.utf8.count) == 1
    }

    /// Returns the certificates of the path that the peer sent, without the leaf. The first is the one that failed.
    /// Those above it follow, which may have caused the fault, then those below it, without which the path would not
    /// have led there.
    private func suspects(_ path: CertificateStack, _ failure: TLSTrustFailure) -> Suspects {
        let isAboutIssuers = failure.reason == .nameConstraints || failure.reason == .badSignature
        // A fault of the leaf is one on every path.
        if failure.depth == 0, !isAboutIssuers { return Suspects() }
        let start = max(failure.depth, 1)
        var suspects = Suspects()
        for depth in start..<max(path.count, start) {
            if depth > start, !isAboutIssuers { break }
            if let found = unsafe selection(path[depth]) { suspects.selections.append(found) }
        }
        suspects.likely = suspects.selections.count
        for depth in (1..<start).reversed() {
            if let found = unsafe selection(path[depth]) { suspects.selections.append(found) }
        }
        return suspects
    }

    /// Returns all copies of a certificate among those that were sent.
    private func selection(_ certificate: OpaquePointer?) -> Selection? {
        guard let certificate = unsafe certificate, unsafe X509_cmp(certificate, leaf) != 0 else { return nil }
        var found: Selection = 0
        for index in 0..<min(sent.count, Selection.bitWidth) where unsafe X509_cmp(sent[index], certificate) == 0 {
            found |= 1 << index
        }
        return found == 0 ? nil : found
    }
}
