internal import CUncurlOpenSSL

/// The OCSP response that a server staples to its handshake (RFC 6066 §8, RFC 6960).
extension VerificationPolicy {
    /// The difference between clocks that is allowed. Five minutes is what OpenSSL's own tools allow.
    private static let leeway: Int64 = 300

    /// The greatest age of a response without an end: the longest that the Baseline Requirements (§4.9.10) allow any.
    private static let openEndedLifetime: Int64 = 10 * 86_400

    /// Returns the policy's objection to the response, or to its absence. `path` is verified, the leaf first.
    func failure(ofStaple response: [UInt8]?, path: [Certificate], at time: CertificateDate?) -> TLSTrustFailure? {
        switch stapling {
        case .ignored: return nil
        case .checked: if response == nil { return nil }
        case .required: break
        }
        let subject = unsafe CertificateFacts.text(X509_get_subject_name(path.first?.pointer))
        guard let response else {
            return TLSTrustFailure(reason: .stapleMissing, subject: subject, code: TLSTrustFailure.applicationCode)
        }
        let now = time ?? CertificateDate.now
        return Self.objection(to: response, path: path, now: now).map { reason in
            let code = reason == .revoked ? X509_V_ERR_CERT_REVOKED : TLSTrustFailure.applicationCode
            return TLSTrustFailure(reason: reason, subject: subject, code: code)
        }
    }

    private static func objection(
        to bytes: [UInt8],
        path: [Certificate],
        now: CertificateDate
    ) -> TLSTrustFailure.Reason? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let response = unsafe decodedDER(bytes, { unsafe d2i_OCSP_RESPONSE(nil, &$0, $1) }).made else {
            return .stapleUnusable(.unreadable)
        }
        defer { unsafe OCSP_RESPONSE_free(response) }
        let status = unsafe OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { return .stapleUnusable(.unsuccessful(Int(status))) }
        guard let basic = unsafe OCSP_response_get1_basic(response) else { return .stapleUnusable(.unreadable) }
        defer { unsafe OCSP_BASICRESP_free(basic) }
        // A leaf that is an anchor itself has no issuer in its path, and so no signer that could vouch for it.
        guard path.count > 1, let leaf = unsafe path[0].pointer, let issuer = unsafe path[1].pointer else {
            return .stapleUnusable(.wrongSigner)
        }
        if let fault = unsafe signatureFault(basic, path: path, issuer: issuer, now: now) {
            return .stapleUnusable(fault)
        }
        return unsafe objection(to: leaf, issuer: issuer, in: basic, now: now)
    }

    /// Checks the signer, by RFC 6960 §4.2.2.2: the issuer itself, or a certificate that it issued with
    /// id-kp-OCSPSigning.
    private static func signatureFault(
        _ basic: OpaquePointer,
        path: [Certificate],
        issuer: OpaquePointer,
        now: CertificateDate
    ) -> StapleFault? {
        var signer: OpaquePointer? = nil
        guard unsafe path.withStack({ unsafe OCSP_resp_get0_signer(basic, &signer, $0) }) == 1,
            let signer = unsafe signer
        else { return .wrongSigner }
        if unsafe X509_cmp(signer, issuer) != 0 {
            let usage = unsafe X509_get_extended_key_usage(signer)
            guard usage != UInt32.max, usage & UInt32(XKU_OCSP_SIGN) != 0,
                unsafe X509_check_issued(issuer, signer) == X509_V_OK,
                unsafe X509_verify(signer, X509_get0_pubkey(issuer)) == 1,
                let from = unsafe CertificateDate(X509_get0_notBefore(signer)),
                let until = unsafe CertificateDate(X509_get0_notAfter(signer)), from <= now, now <= until
            else { return .wrongSigner }
        }
        // The check above settled the signer. Only the signature is left to check.
        let result = unsafe [Certificate(retaining: signer)].withStack { only in
            unsafe OCSP_basic_verify(basic, only, nil, UInt(OCSP_NOVERIFY | OCSP_NOCHAIN))
        }
        return result == 1 ? nil : .badSignature
    }

    private static func objection(
        to leaf: OpaquePointer,
        issuer: OpaquePointer,
        in basic: OpaquePointer,
        now: CertificateDate
    ) -> TLSTrustFailure.Reason? {
        var fault = StapleFault.notAboutThisCertificate
        for index in unsafe 0..<max(0, OCSP_resp_count(basic)) {
            guard let single = unsafe OCSP_resp_get0(basic, index), unsafe isAbout(leaf, issuer, single) else {
                continue
            }
            var reason: CInt = 0
            var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>? = nil
            var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>? = nil
            var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>? = nil
            let status = unsafe OCSP_single_get0_status(single, &reason, &revokedAt, &this, &next)
            guard let from = unsafe CertificateDate(this) else { return .stapleUnusable(.unreadable) }
            let until =
                unsafe CertificateDate(next)
                ?? CertificateDate(secondsSince1970: from.secondsSince1970 &+ openEndedLifetime)
            if from.secondsSince1970 > now.secondsSince1970 &+ leeway {
                fault = .notYetValid(from)
            } else if until.secondsSince1970 < now.secondsSince1970 &- leeway {
                fault = .expired(until)
            } else if status == V_OCSP_CERTSTATUS_REVOKED {
                return .revoked
            } else if status == V_OCSP_CERTSTATUS_GOOD {
                return nil
            } else {
                fault = .unknownCertificate
            }
        }
        return .stapleUnusable(fault)
    }

    /// Returns whether a response is about the leaf. It compares by the digest that the responder chose for its
    /// identifiers.
    private static func isAbout(_ leaf: OpaquePointer, _ issuer: OpaquePointer, _ single: OpaquePointer) -> Bool {
        guard let stated = unsafe OCSP_SINGLERESP_get0_id(single) else { return false }
        var algorithm: OpaquePointer? = nil
        guard unsafe OCSP_id_get0_info(nil, &algorithm, nil, nil, stated) == 1,
            let digest = unsafe uncurl_digest_of(algorithm),
            let own = unsafe OCSP_cert_to_id(digest, leaf, issuer)
        else { return false }
        defer { unsafe OCSP_CERTID_free(own) }
        return unsafe OCSP_id_cmp(own, stated) == 0
    }
}
