internal import CUncurlOpenSSL
internal import UncurlText

/// Rules for a whole path that OpenSSL does not have. A path that OpenSSL has verified must pass them too.
extension [Certificate] {
    /// Returns what is wrong with this verified path, the leaf first.
    ///
    /// - Parameter maximumDepth: the most certificates between the leaf and the anchor, without those that are
    ///   self-issued.
    func ruleFailure(maximumDepth: Int, isStrict: Bool) -> TLSTrustFailure? {
        if let failure = depthFailure(maximumDepth) { return failure }
        var constraints = DNSConstraints()
        // The loop goes from the anchor down: constraints apply to the certificates below them.
        for depth in (0..<count).reversed() {
            guard let certificate = unsafe self[depth].pointer else { continue }
            let reason =
                unsafe Self.keyFault(certificate) ?? Self.nameFault(certificate, depth, constraints)
                ?? Self.constraintFault(certificate, depth, &constraints, isStrict)
            guard let reason else { continue }
            return unsafe TLSTrustFailure(
                reason: reason,
                depth: depth,
                subject: CertificateFacts.text(X509_get_subject_name(certificate)),
                code: Self.code(reason)
            )
        }
        return nil
    }

    /// Whether subject and issuer are the same, as in a certificate for an authority's new key.
    static func isSelfIssued(_ certificate: OpaquePointer) -> Bool {
        unsafe X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0
    }

    private func depthFailure(_ most: Int) -> TLSTrustFailure? {
        var above = 0
        for depth in 1..<Swift.max(count - 1, 1) {
            guard let certificate = unsafe self[depth].pointer, unsafe !Self.isSelfIssued(certificate) else { continue }
            above += 1
            guard above > most else { continue }
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
        let names = unsafe AlternativeName.hosts(of: certificate)
        return names.allSatisfy { constraints.allow($0) } ? nil : .nameConstraints
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
        guard unsafe Swift.max(uncurl_subtree_count(permitted), uncurl_subtree_count(excluded)) > 0 else {
            return .unusableNameConstraints
        }
        for isExcluded in [false, true] {
            let subtrees = unsafe isExcluded ? excluded : permitted
            for index in unsafe 0..<uncurl_subtree_count(subtrees) {
                var data: UnsafePointer<UInt8>? = nil
                var count: CInt = 0
                guard unsafe uncurl_dns_subtree_at(subtrees, index, &data, &count) == 1 else { continue }
                let name = unsafe [UInt8](
                    UnsafeBufferPointer(start: data, count: data == nil ? 0 : Int(Swift.max(0, count)))
                )
                guard constraints.add(name, isExcluded: isExcluded, isStrict: isStrict) else {
                    return .unusableNameConstraints
                }
            }
        }
        return nil
    }
}

/// Name constraints on DNS names (RFC 5280 §4.2.1.10), in the cases that OpenSSL's own check, which every path has
/// passed before, does not cover.
///
/// - A wildcard stands for every name of one label more. OpenSSL compares it as text, and so lets `*.a.example` pass an
///   excluded `www.a.example` (CVE-2025-61727 was the same fault of Go's).
/// - A text that is no name is neither inside nor outside: under constraints it is refused, as by Go and by webpki.
///
/// A constraint may begin with a dot: Go, webpki and OpenSSL read it as "below, and not the name itself". Names are
/// compared without regard to case.
struct DNSConstraints {
    /// RFC 1035 §2.3.4.
    private static let nameLimit = 253

    /// Whether there is at least one constraint.
    private(set) var isAny = false
    /// The parents of the excluded names: a wildcard below one of them stands for an excluded name.
    private var aboveExcluded: Set<[UInt8]> = []

    /// Adds a constraint. Returns false if it is none that could be applied.
    ///
    /// - Parameter isStrict: Whether a dot at the beginning is refused, which RFC 5280 does not have.
    mutating func add(_ constraint: [UInt8], isExcluded: Bool, isStrict: Bool) -> Bool {
        isAny = true
        // An empty constraint covers all names.
        if constraint.isEmpty { return true }
        let isDotted = constraint.first == UInt8(ascii: ".")
        let name = constraint.map(\.lowercasedASCII)
        guard Self.isName(isDotted ? name.dropFirst() : name[...]), !(isDotted && isStrict) else { return false }
        if isExcluded, !isDotted, let dot = name.firstIndex(of: UInt8(ascii: ".")) {
            aboveExcluded.insert(Array(name[(dot + 1)...]))
        }
        return true
    }

    /// Returns whether a certificate below the constraints may have that name.
    func allow(_ name: [UInt8]) -> Bool {
        guard isAny else { return true }
        let name = name.map(\.lowercasedASCII)
        guard name.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) else { return Self.isName(name[...]) }
        let rest = name.dropFirst(2)
        return Self.isName(rest) && !aboveExcluded.contains(Array(rest))
    }

    /// Returns whether the labels are of letters, digits, hyphens and underscores, without a dot at either end.
    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.count <= nameLimit else { return false }
        return hasNameLabels(name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false))
    }

}
