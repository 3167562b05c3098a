internal import CUncurlOpenSSL

/// An OCSP response (RFC 6960) for a test, as a server staples it.
public struct TestOCSPResponse: Sendable {
    /// The status of the certificate (RFC 6960 §2.2).
    public enum Status: Sendable { case good, revoked, unknown }

    /// The status of the certificate.
    public var status = Status.good
    /// Seconds since 1970.
    public var thisUpdate: Int64 = 1_577_836_800
    /// Seconds since 1970; nil for no end.
    public var nextUpdate: Int64? = 2_493_072_000

    /// A response with this status, valid for the lifetime of the made certificates.
    public init(_ status: Status = .good) { self.status = status }

    /// The response in DER, about a certificate of `issuer`. The issuer signs it, or another signer whose certificate
    /// is then included.
    public func der(
        about certificate: TestCertificate,
        issuer: TestCertificate,
        signer: TestCertificate? = nil
    ) throws(TestCertificateError) -> [UInt8] {
        let basic = try unsafe checked(OCSP_BASICRESP_new(), "OCSP response")
        defer { unsafe OCSP_BASICRESP_free(basic) }
        let (leaf, authority) = try unsafe (certificate.handle(), issuer.handle())
        defer {
            unsafe X509_free(leaf)
            unsafe X509_free(authority)
        }
        let identifier = try unsafe checked(OCSP_cert_to_id(EVP_sha1(), leaf, authority), "certificate identifier")
        defer { unsafe OCSP_CERTID_free(identifier) }
        let this = unsafe ASN1_TIME_set(nil, time_t(thisUpdate))
        let next = unsafe nextUpdate.flatMap { unsafe ASN1_TIME_set(nil, time_t($0)) }
        defer {
            unsafe ASN1_TIME_free(this)
            unsafe ASN1_TIME_free(next)
        }
        let code =
            switch status {
            case .good: V_OCSP_CERTSTATUS_GOOD
            case .revoked: V_OCSP_CERTSTATUS_REVOKED
            case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
            }
        let revokedAt = unsafe status == .revoked ? this : nil
        _ = try unsafe checked(
            OCSP_basic_add1_status(basic, identifier, code, OCSP_REVOKED_STATUS_NOSTATUS, revokedAt, this, next),
            "OCSP status"
        )
        let signer = signer ?? issuer
        let own = try unsafe signer.handle()
        defer { unsafe X509_free(own) }
        let flags = signer.der == issuer.der ? UInt(OCSP_NOCERTS) : 0
        let digest = unsafe signer.key.digest(.sha256)
        try check(unsafe OCSP_basic_sign(basic, own, signer.key.pointer, digest, nil, flags), "OCSP signature")
        let response = try unsafe checked(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic), "OCSP response")
        defer { unsafe OCSP_RESPONSE_free(response) }
        return try unsafe checked(encoded { unsafe i2d_OCSP_RESPONSE(response, $0) }, "OCSP response")
    }

    /// A responder's refusal: status 3, try later.
    public static func tryLater() throws(TestCertificateError) -> [UInt8] {
        let response = try unsafe checked(OCSP_response_create(OCSP_RESPONSE_STATUS_TRYLATER, nil), "OCSP response")
        defer { unsafe OCSP_RESPONSE_free(response) }
        return try unsafe checked(encoded { unsafe i2d_OCSP_RESPONSE(response, $0) }, "OCSP response")
    }
}
