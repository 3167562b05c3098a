internal import CUncurlOpenSSL

/// Searches for a good path from a leaf to an anchor. OpenSSL takes the first path that it finds and does not look
/// back. So the search leaves out a certificate that failed, and asks OpenSSL again. A path that passes has passed a
/// full verification of OpenSSL's and `ruleFailure`, so the search accepts nothing that OpenSSL would not.
@safe struct PathSearch {
    /// The most attempts: enough to find every path of real cross-signings, and a bound of the work that a peer can
    /// cause.
    static let attemptLimit = 8

    /// The range of depths. No policy exceeds it.
    private static let depths = 0...100

    /// Keys below 112 bits of strength and SHA-1 signatures are refused, whatever the distribution compiled in.
    static let securityLevel: CInt = 2

    /// What the peer sent, its own certificate first.
    let sent: [Certificate]
    let name: ServerName?
    let anchors: TrustAnchors
    let policy: VerificationPolicy
    let time: CertificateDate?
    /// How often the search has asked OpenSSL for a path.
    private(set) var attemptCount = 0

    /// Certificates of `sent` by their bits. Those after the first 64 are never left out.
    private typealias Selection = UInt64

    /// Returns the path, or the first failure: a later one ("issuer not known") only tells that the search continued.
    mutating func run() -> Result<[Certificate], TLSTrustFailure> {
        var likely: [Selection] = [0]
        var unlikely: [Selection] = []
        var known: Set<Selection> = [0]
        var first: TLSTrustFailure?
        while attemptCount < Self.attemptLimit, let left = likely.first ?? unlikely.first {
            attemptCount += 1
            if likely.isEmpty { unlikely.removeFirst() } else { likely.removeFirst() }
            let (path, failure) = attempt(without: left)
            guard let failure else { return .success(path) }
            first = first ?? failure
            let suspects = suspects(path, failure)
            likely += suspects.likely.map { left | $0 }.filter { known.insert($0).inserted }
            unlikely += suspects.unlikely.map { left | $0 }.filter { known.insert($0).inserted }
        }
        return .failure(first ?? Self.outOfMemory)
    }

    /// A path, as far as it was built, and what is wrong with it.
    private typealias Attempt = (path: [Certificate], failure: TLSTrustFailure?)

    private static let outOfMemory = TLSTrustFailure(reason: .outOfMemory, code: X509_V_ERR_OUT_OF_MEM)

    private func attempt(without left: Selection) -> Attempt {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let context = unsafe X509_STORE_CTX_new() else { return ([], Self.outOfMemory) }
        defer { unsafe X509_STORE_CTX_free(context) }
        let untrusted = sent.enumerated().filter { $0.offset >= Selection.bitWidth || left & (1 << $0.offset) == 0 }
        return unsafe untrusted.map(\.element).withStack { untrusted in
            guard unsafe X509_STORE_CTX_init(context, anchors.store, leaf, untrusted) == 1, unsafe configure(context)
            else { return ([], Self.outOfMemory) }
            guard unsafe X509_verify_cert(context) == 1 else {
                let failure = unsafe TLSTrustFailure(context, name: name, policy: policy)
                return unsafe ([Certificate](X509_STORE_CTX_get0_chain(context)), failure)
            }
            let path = unsafe [Certificate](X509_STORE_CTX_get0_chain(context))
            return (path, path.ruleFailure(maximumDepth: depth, isStrict: policy.isStrict))
        }
    }

    private var leaf: OpaquePointer? { unsafe sent.first?.pointer }

    private var depth: Int { min(max(policy.maximumDepth, Self.depths.lowerBound), Self.depths.upperBound) }

    private func configure(_ context: OpaquePointer) -> Bool {
        guard let parameters = unsafe X509_STORE_CTX_get0_param(context) else { return false }
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        // OpenSSL counts self-issued certificates, which do not count (RFC 5280 §6.1.4 (l)): `ruleFailure` counts anew.
        let selfIssued = sent.count { unsafe $0.pointer.map { unsafe [Certificate].isSelfIssued($0) } ?? false }
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
        let purpose = policy.isForClient ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER
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

    /// Returns the certificates of the path that the peer sent, without the leaf, to be left out one at a time. Likely
    /// are the one that failed, and those above it that may have caused the fault; the others are those below it,
    /// without which the path would not have led there.
    private func suspects(
        _ path: [Certificate],
        _ failure: TLSTrustFailure
    ) -> (likely: [Selection], unlikely: [Selection]) {
        let isAboutIssuers = failure.reason == .nameConstraints || failure.reason == .badSignature
        // A fault of the leaf is one on every path.
        if failure.depth == 0, !isAboutIssuers { return ([], []) }
        let start = max(failure.depth, 1)
        let above = (start..<max(path.count, start)).prefix(isAboutIssuers ? .max : 1)
        return (
            above.compactMap { unsafe selection(path[$0].pointer) },
            (1..<start).reversed().compactMap { unsafe selection(path[$0].pointer) }
        )
    }

    /// Returns all copies of a certificate among those that were sent.
    private func selection(_ certificate: OpaquePointer?) -> Selection? {
        guard let certificate = unsafe certificate, unsafe X509_cmp(certificate, leaf) != 0 else { return nil }
        var found: Selection = 0
        for index in 0..<min(sent.count, Selection.bitWidth)
        where unsafe X509_cmp(sent[index].pointer, certificate) == 0 {
            found |= 1 << index
        }
        return found == 0 ? nil : found
    }
}

extension TLSTrustFailure {
    /// The code of checks that OpenSSL does not make itself. The peer is sent handshake_failure.
    static let applicationCode = X509_V_ERR_APPLICATION_VERIFICATION

    /// Reads the failure of a verification. Its chain is only as long as it was built so far.
    init(_ context: OpaquePointer, name: ServerName?, policy: VerificationPolicy) {
        let code = unsafe X509_STORE_CTX_get_error(context)
        let depth = unsafe Int(X509_STORE_CTX_get_error_depth(context))
        let current = unsafe X509_STORE_CTX_get_current_cert(context) ?? X509_STORE_CTX_get0_cert(context)
        let reason: Reason
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            reason = unsafe CertificateDate(X509_get0_notAfter(current)).map { .expired(since: $0) } ?? .unreadableDate
        case X509_V_ERR_CERT_NOT_YET_VALID:
            reason =
                unsafe CertificateDate(X509_get0_notBefore(current)).map { .notYetValid(until: $0) } ?? .unreadableDate
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            reason = unsafe Self.wrongHost(name, leaf: X509_STORE_CTX_get0_cert(context))
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            reason = unsafe .untrustedRoot(CertificateFacts.text(X509_get_subject_name(current)))
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            let issuer = unsafe CertificateFacts.text(X509_get_issuer_name(current))
            // The leaf itself is among the certificates that the peer sent, or none are.
            let sent = unsafe uncurl_certificate_count(X509_STORE_CTX_get0_untrusted(context))
            reason = sent <= 1 && depth == 0 ? .incompleteChain(issuer: issuer) : .unknownIssuer(issuer)
        case X509_V_ERR_INVALID_PURPOSE: reason = .wrongPurpose(isClient: policy.isForClient)
        default: reason = Self.plain(code)
        }
        let subject = unsafe CertificateFacts.text(X509_get_subject_name(current))
        self.init(reason: reason, depth: depth, subject: subject, code: code)
    }

    static func wrongHost(_ name: ServerName?, leaf: OpaquePointer?) -> Reason {
        let names = unsafe AlternativeName.all(of: leaf)
        let shown = names.prefix(namesShown).map { String($0.description.prefix(253)) }
        return .wrongHost(expected: name?.text ?? "", found: shown, more: names.count - shown.count)
    }

    /// The errors that carry no values.
    private static func plain(_ code: CInt) -> Reason {
        switch code {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: .chainTooLong
        case X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN: .notAnAuthority
        case X509_V_ERR_PATH_LENGTH_EXCEEDED: .pathTooLong
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            .nameConstraints
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .unknownCriticalExtension
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: .weakKey
        case X509_V_ERR_CA_MD_TOO_WEAK: .weakSignature
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
            X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH, X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY,
            X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM:
            .badSignature
        case X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY, X509_V_ERR_NO_ISSUER_PUBLIC_KEY: .unreadableKey
        case X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD: .unreadableDate
        case X509_V_ERR_INVALID_EXTENSION, X509_V_ERR_INVALID_POLICY_EXTENSION, X509_V_ERR_EC_KEY_EXPLICIT_PARAMS:
            .malformed
        case X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED: .distrusted
        case X509_V_ERR_CERT_REVOKED: .revoked
        case X509_V_ERR_UNABLE_TO_GET_CRL: .revocationListMissing
        case X509_V_ERR_CRL_HAS_EXPIRED: .revocationListExpired
        case X509_V_ERR_CRL_NOT_YET_VALID: .revocationListNotYetValid
        case X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE, X509_V_ERR_CRL_SIGNATURE_FAILURE,
            X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD, X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD,
            X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
            X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, X509_V_ERR_DIFFERENT_CRL_SCOPE,
            X509_V_ERR_CRL_PATH_VALIDATION_ERROR:
            .revocationListUnusable
        case X509_V_ERR_OUT_OF_MEM: .outOfMemory
        case X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA, X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN,
            X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA, X509_V_ERR_ISSUER_NAME_EMPTY,
            X509_V_ERR_SUBJECT_NAME_EMPTY, X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER,
            X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_EMPTY_SUBJECT_ALT_NAME,
            X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
            X509_V_ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL, X509_V_ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL,
            X509_V_ERR_CA_CERT_MISSING_KEY_USAGE, X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3:
            .unprofiled
        default: .other
        }
    }
}
