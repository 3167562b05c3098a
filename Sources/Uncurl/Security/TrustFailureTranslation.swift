internal import UncurlTLS

extension TrustFailure {
    /// The verifier's failure, with the host that it is about.
    init(_ failure: TLSTrustFailure, host: String) {
        self.init(host: host, reason: Reason(failure.reason), words: failure.description)
    }
}

extension TrustFailure.Reason {
    fileprivate init(_ reason: TLSTrustFailure.Reason) {
        self =
            switch reason {
            case .noCertificate: .noCertificate
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .wrongHost(_, let found, _): .wrongHost(found: found)
            case .selfSigned: .selfSigned
            case .untrustedRoot, .unknownIssuer: .unknownAuthority
            case .incompleteChain: .incompleteChain
            case .revoked: .revoked
            case .revocationListMissing, .revocationListExpired, .revocationListNotYetValid, .revocationListUnusable,
                .stapleMissing, .stapleUnusable:
                .revocationUnknown
            case .pinMismatch(let leaf): .noPinMatches(leafKey: leaf)
            case .unreadableDate, .chainTooLong, .wrongPurpose, .notAnAuthority, .pathTooLong, .nameConstraints,
                .unusableNameConstraints, .misplacedNameConstraints, .dsaKey,
                .unknownCriticalExtension, .weakKey, .weakSignature, .badSignature, .unreadableKey, .malformed,
                .unprofiled, .distrusted, .outOfMemory, .other:
                .invalidChain
            }
    }
}
