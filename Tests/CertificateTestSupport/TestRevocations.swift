import CUncurlOpenSSL
import UncurlTestServer

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
        let basic = try checked(OCSP_BASICRESP_new(), "OCSP response")
        defer { OCSP_BASICRESP_free(basic) }
        let (leaf, authority) = try (certificate.handle(), issuer.handle())
        defer {
            X509_free(leaf)
            X509_free(authority)
        }
        let identifier = try checked(OCSP_cert_to_id(EVP_sha1(), leaf, authority), "certificate identifier")
        defer { OCSP_CERTID_free(identifier) }
        let this = ASN1_TIME_set(nil, time_t(thisUpdate))
        let next = nextUpdate.flatMap { ASN1_TIME_set(nil, time_t($0)) }
        defer {
            ASN1_TIME_free(this)
            ASN1_TIME_free(next)
        }
        let code =
            switch status {
            case .good: V_OCSP_CERTSTATUS_GOOD
            case .revoked: V_OCSP_CERTSTATUS_REVOKED
            case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
            }
        let revokedAt = status == .revoked ? this : nil
        _ = try checked(
            OCSP_basic_add1_status(basic, identifier, code, OCSP_REVOKED_STATUS_NOSTATUS, revokedAt, this, next),
            "OCSP status"
        )
        let signer = signer ?? issuer
        let own = try signer.handle()
        defer { X509_free(own) }
        let flags = signer.der == issuer.der ? UInt(OCSP_NOCERTS) : 0
        let digest = signer.key.digest(.sha256)
        try check(OCSP_basic_sign(basic, own, signer.key.pointer, digest, nil, flags), "OCSP signature")
        let response = try checked(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic), "OCSP response")
        defer { OCSP_RESPONSE_free(response) }
        return try checked(encoded { i2d_OCSP_RESPONSE(response, $0) }, "OCSP response")
    }

    /// A responder's refusal: status 3, try later.
    public static func tryLater() throws(TestCertificateError) -> [UInt8] {
        let response = try checked(OCSP_response_create(OCSP_RESPONSE_STATUS_TRYLATER, nil), "OCSP response")
        defer { OCSP_RESPONSE_free(response) }
        return try checked(encoded { i2d_OCSP_RESPONSE(response, $0) }, "OCSP response")
    }
}

/// A revocation list (RFC 5280 §5) for a test, signed by an authority.
public struct TestRevocationList: Sendable {
    /// The serial numbers of revoked certificates.
    public var revoked: [UInt64] = []
    /// When the list was issued, in seconds since 1970.
    public var thisUpdate: Int64 = 1_577_836_800
    /// When the next list is due.
    public var nextUpdate: Int64 = 2_493_072_000

    /// A list of these serial numbers.
    public init(revoked: [UInt64] = []) { self.revoked = revoked }

    /// The list in PEM, signed by the authority, or by `signer` in the authority's name.
    public func pem(by issuer: TestCertificate, signer: TestKey? = nil) throws(TestCertificateError) -> String {
        let list = try checked(X509_CRL_new(), "revocation list")
        defer { X509_CRL_free(list) }
        let authority = try issuer.handle()
        defer { X509_free(authority) }
        try check(X509_CRL_set_version(list, 1), "version")
        try check(X509_CRL_set_issuer_name(list, X509_get_subject_name(authority)), "issuer")
        try dated(thisUpdate) { X509_CRL_set1_lastUpdate(list, $0) }
        try dated(nextUpdate) { X509_CRL_set1_nextUpdate(list, $0) }
        for serial in revoked { try add(serial, to: list) }
        let key = signer ?? issuer.key
        try check(X509_CRL_sign(list, key.pointer, key.digest(.sha256)), "signature")
        let der = try checked(encoded { i2d_X509_CRL(list, $0) }, "revocation list")
        return TestCertificate.pem(der, label: "X509 CRL")
    }

    private func add(_ serial: UInt64, to list: OpaquePointer) throws(TestCertificateError) {
        let entry = try checked(X509_REVOKED_new(), "revoked entry")
        let number = try checked(ASN1_INTEGER_new(), "serial number")
        defer { ASN1_INTEGER_free(number) }
        try check(ASN1_INTEGER_set_uint64(number, serial), "serial number")
        try check(X509_REVOKED_set_serialNumber(entry, number), "serial number")
        try dated(thisUpdate) { X509_REVOKED_set_revocationDate(entry, $0) }
        // The list now owns the entry.
        try check(X509_CRL_add0_revoked(list, entry), "revoked entry")
    }

    private func dated(
        _ date: Int64,
        _ set: (UnsafeMutablePointer<ASN1_TIME>) -> CInt
    ) throws(TestCertificateError) {
        let time = try checked(ASN1_TIME_set(nil, time_t(date)), "date")
        defer { ASN1_TIME_free(time) }
        try check(set(time), "date")
    }
}
