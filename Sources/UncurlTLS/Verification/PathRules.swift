internal import CUncurlOpenSSL

/// Rules for a whole path that OpenSSL does not have. A path that OpenSSL has verified must pass them too.
enum PathRules {
    /// - Parameters:
    ///   - path: The verified path, the leaf first.
    ///   - maximumDepth: the most certificates between the leaf and the anchor, without those that are self-issued.
    static func failure(_ path: CertificateStack, maximumDepth: Int, isStrict: Bool) -> TLSTrustFailure? {
        if let failure = depthFailure(path, maximumDepth) { return failure }
        var constraints = DNSConstraints()
        // The loop goes from the anchor down: constraints apply to the certificates below them.
        for depth in (0..<path.count).reversed() {
            guard let certificate = unsafe path[depth] else { continue }
            let reason =
                unsafe keyFault(certificate) ?? nameFault(certificate, depth, constraints)
                ?? constraintFault(certificate, depth, &constraints, isStrict)
            guard let reason else { continue }
            return unsafe TLSTrustFailure(
                reason: reason,
                depth: depth,
                subject: CertificateFacts.text(X509_get_subject_name(certificate)),
                code: code(reason)
            )
        }
        return nil
    }

    /// Whether subject and issuer are the same, as in a certificate for an authority's new key.
    static func isSelfIssued(_ certificate: OpaquePointer) -> Bool {
        unsafe X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0
    }

    private static func depthFailure(_ path: CertificateStack, _ most: Int) -> TLSTrustFailure? {
        var count = 0
        for depth in 1..<max(path.count - 1, 1) {
            guard let certificate = unsafe path[depth], unsafe !isSelfIssued(certificate) else { continue }
            count += 1
            guard count > most else { continue }
            return unsafe TLSTrustFailure(
                reason: .chainTooLong,
                depth: depth,
                subject: CertificateFacts.text(X509_get_subject_name(certificate)),
                code: X509_V_ERR_CERT_CHAIN_TOO_LONG
            )
        }
        return nil
    }

    /// Returns the code that selects the alert.
    private static func code(_ reason: TLSTrustFailure.Reason) -> CInt {
        switch reason {
        case .nameConstraints: X509_V_ERR_EXCLUDED_VIOLATION
        case .unusableNameConstraints: X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX
        default: X509_V_ERR_CERT_REJECTED
        }
    }

    /// Refuses DSA. The Baseline Requirements (§6.1.5) and RFC 8446 §4.2.3 have removed it, and Go and webpki do not
    /// support it.
    private static func keyFault(_ certificate: OpaquePointer) -> TLSTrustFailure.Reason? {
        unsafe EVP_PKEY_get_base_id(X509_get0_pubkey(certificate)) == EVP_PKEY_DSA ? .dsaKey : nil
    }

    /// Checks the names. RFC 5280 §6.1.3 (b): those of a self-issued certificate are not checked, unless it is the
    /// last.
    private static func nameFault(
        _ certificate: OpaquePointer,
        _ depth: Int,
        _ constraints: DNSConstraints
    ) -> TLSTrustFailure.Reason? {
        guard constraints.isAny else { return nil }
        if unsafe depth > 0 && isSelfIssued(certificate) { return nil }
        let faults = unsafe AlternativeName.hosts(of: certificate).lazy.compactMap { constraints.fault($0) }
        return faults.first == nil ? nil : .nameConstraints
    }

    /// Adds the certificate's constraints. RFC 5280 §4.2.1.10: only authorities have any, and they are not empty.
    private static func constraintFault(
        _ certificate: OpaquePointer,
        _ depth: Int,
        _ constraints: inout DNSConstraints,
        _ isStrict: Bool
    ) -> TLSTrustFailure.Reason? {
        guard unsafe X509_get_ext_by_NID(certificate, NID_name_constraints, -1) >= 0 else { return nil }
        // The certificates above the first have proven to be authorities. 1 means: by basicConstraints. Other numbers
        // are guesses from the certificate's other parts.
        guard unsafe depth > 0 || X509_check_ca(certificate) == 1 else { return .misplacedNameConstraints }
        guard
            let found = unsafe X509_get_ext_d2i(certificate, NID_name_constraints, nil, nil)?
                .assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        else { return .unusableNameConstraints }
        defer { unsafe NAME_CONSTRAINTS_free(found) }
        let (permitted, excluded) = unsafe (found.pointee.permittedSubtrees, found.pointee.excludedSubtrees)
        guard unsafe max(uncurl_subtree_count(permitted), uncurl_subtree_count(excluded)) > 0 else {
            return .unusableNameConstraints
        }
        for isExcluded in [false, true] {
            let subtrees = unsafe isExcluded ? excluded : permitted
            for index in unsafe 0..<uncurl_subtree_count(subtrees) {
                var data: UnsafePointer<UInt8>? = nil
                var count: CInt = 0
                guard unsafe uncurl_dns_subtree_at(subtrees, index, &data, &count) == 1 else { continue }
                let name = unsafe Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : Int(max(0, count))))
                guard constraints.add(name, isExcluded: isExcluded, isStrict: isStrict) else {
                    return .unusableNameConstraints
                }
            }
        }
        return nil
    }
}
