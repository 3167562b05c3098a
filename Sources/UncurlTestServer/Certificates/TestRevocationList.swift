internal import CUncurlOpenSSL

/// A revocation list (RFC 5280 §5) for a test, signed by an authority.
public struct TestRevocationList: Sendable {
    /// The serial numbers of revoked certificates.
    public var revoked: [UInt64] = []
    /// When the list was issued: 1 January 2020 unless changed.
    public var thisUpdate = TestDate.unix(1_577_836_800)
    /// When the next list is due: 1 January 2049 unless changed.
    public var nextUpdate = TestDate.unix(2_493_072_000)

    /// A list of these serial numbers.
    public init(revoked: [UInt64] = []) { self.revoked = revoked }

    /// The list in PEM, signed by the authority, or by `signer` in the authority's name.
    public func pem(by issuer: TestCertificate, signer: TestKey? = nil) throws(TestCertificateError) -> String {
        let list = try unsafe checked(X509_CRL_new(), "revocation list")
        defer { unsafe X509_CRL_free(list) }
        let authority = try unsafe issuer.handle()
        defer { unsafe X509_free(authority) }
        try check(unsafe X509_CRL_set_version(list, 1), "version")
        try check(unsafe X509_CRL_set_issuer_name(list, X509_get_subject_name(authority)), "issuer")
        try unsafe dated(thisUpdate) { unsafe X509_CRL_set1_lastUpdate(list, $0) }
        try unsafe dated(nextUpdate) { unsafe X509_CRL_set1_nextUpdate(list, $0) }
        for serial in revoked { try unsafe add(serial, to: list) }
        let key = signer ?? issuer.key
        try check(unsafe X509_CRL_sign(list, key.pointer, key.digest(.sha256)), "signature")
        let der = try unsafe checked(encoded { unsafe i2d_X509_CRL(list, $0) }, "revocation list")
        return TestCertificate.pem(der, label: "X509 CRL")
    }

    private func add(_ serial: UInt64, to list: OpaquePointer) throws(TestCertificateError) {
        let entry = try unsafe checked(X509_REVOKED_new(), "revoked entry")
        let number = try unsafe checked(ASN1_INTEGER_new(), "serial number")
        defer { unsafe ASN1_INTEGER_free(number) }
        try check(unsafe ASN1_INTEGER_set_uint64(number, serial), "serial number")
        try check(unsafe X509_REVOKED_set_serialNumber(entry, number), "serial number")
        try unsafe dated(thisUpdate) { unsafe X509_REVOKED_set_revocationDate(entry, $0) }
        // The list now owns the entry.
        try check(unsafe X509_CRL_add0_revoked(list, entry), "revoked entry")
    }

    private func dated(
        _ date: TestDate,
        _ set: (UnsafeMutablePointer<ASN1_TIME>) -> CInt
    ) throws(TestCertificateError) {
        let time = try unsafe checked(ASN1_TIME_new(), "date")
        defer { unsafe ASN1_TIME_free(time) }
        try unsafe date.set(time)
        try check(unsafe set(time), "date")
    }
}
