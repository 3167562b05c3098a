internal import CUncurlOpenSSL

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
        case X509_V_ERR_INVALID_PURPOSE: reason = .wrongPurpose(policy.purpose)
        default: reason = Self.plain[code] ?? .other
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
    private static let plain: [CInt: Reason] = {
        let groups: [(Reason, [CInt])] = [
            (.selfSigned, [X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT]),
            (.chainTooLong, [X509_V_ERR_CERT_CHAIN_TOO_LONG]),
            (.notAnAuthority, [X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN]),
            (.pathTooLong, [X509_V_ERR_PATH_LENGTH_EXCEEDED]),
            (
                .nameConstraints,
                [
                    X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
                    X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
                    X509_V_ERR_UNSUPPORTED_NAME_SYNTAX,
                ]
            ),
            (.unknownCriticalExtension, [X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION]),
            (.weakKey, [X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL]),
            (.weakSignature, [X509_V_ERR_CA_MD_TOO_WEAK]),
            (
                .badSignature,
                [
                    X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
                    X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH, X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY,
                    X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM,
                ]
            ),
            (
                .unreadableKey,
                [X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY, X509_V_ERR_NO_ISSUER_PUBLIC_KEY]
            ),
            (
                .unreadableDate,
                [X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD]
            ),
            (
                .malformed,
                [X509_V_ERR_INVALID_EXTENSION, X509_V_ERR_INVALID_POLICY_EXTENSION, X509_V_ERR_EC_KEY_EXPLICIT_PARAMS]
            ),
            (.distrusted, [X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED]),
            (.revoked, [X509_V_ERR_CERT_REVOKED]),
            (.revocationListMissing, [X509_V_ERR_UNABLE_TO_GET_CRL]),
            (.revocationListExpired, [X509_V_ERR_CRL_HAS_EXPIRED]),
            (.revocationListNotYetValid, [X509_V_ERR_CRL_NOT_YET_VALID]),
            (
                .revocationListUnusable,
                [
                    X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE, X509_V_ERR_CRL_SIGNATURE_FAILURE,
                    X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD, X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD,
                    X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
                    X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, X509_V_ERR_DIFFERENT_CRL_SCOPE,
                    X509_V_ERR_CRL_PATH_VALIDATION_ERROR,
                ]
            ),
            (.outOfMemory, [X509_V_ERR_OUT_OF_MEM]),
            (
                .unprofiled,
                [
                    X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA, X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN,
                    X509_V_ERR_KU_KEY_CERT_SIGN_INVALID_FOR_NON_CA, X509_V_ERR_ISSUER_NAME_EMPTY,
                    X509_V_ERR_SUBJECT_NAME_EMPTY, X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER,
                    X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER, X509_V_ERR_EMPTY_SUBJECT_ALT_NAME,
                    X509_V_ERR_EMPTY_SUBJECT_SAN_NOT_CRITICAL, X509_V_ERR_CA_BCONS_NOT_CRITICAL,
                    X509_V_ERR_AUTHORITY_KEY_IDENTIFIER_CRITICAL, X509_V_ERR_SUBJECT_KEY_IDENTIFIER_CRITICAL,
                    X509_V_ERR_CA_CERT_MISSING_KEY_USAGE, X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3,
                ]
            ),
        ]
        var table: [CInt: Reason] = [:]
        for (reason, codes) in groups { for code in codes { table[code] = reason } }
        return table
    }()
}
