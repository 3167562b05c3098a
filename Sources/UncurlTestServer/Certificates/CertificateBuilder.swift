internal import CUncurlOpenSSL

/// Describes a certificate, valid or not, and signs it.
///
/// Extension values are in OpenSSL's notation (x509v3_config): `DNS:a.test`, `IP:::1`, `critical,keyCertSign`,
/// `permitted;DNS:.a.test`. The lifetime is fixed, from 2020 to 2049, so that the result does not depend on the date.
public struct CertificateBuilder: Sendable {
    /// The content of basicConstraints (RFC 5280 §4.2.1.9).
    public enum Authority: Sendable {
        /// No basicConstraints at all.
        case unstated
        /// `CA:FALSE`.
        case no
        /// `CA:TRUE`, with a limit on the authorities below it, or without.
        case yes(pathLength: Int?)
    }

    /// An extension given by its octets, valid or not.
    public struct RawExtension: Sendable {
        /// The object identifier in dotted decimals.
        public var oid: String
        /// Whether a verifier that does not know the extension must refuse the certificate.
        public var isCritical: Bool
        /// The DER inside the extension's OCTET STRING.
        public var value: [UInt8]

        /// An extension; its value is a DER NULL if none is given.
        public init(oid: String, isCritical: Bool, value: [UInt8] = [0x05, 0x00]) {
            self.oid = oid
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// The subject's common name; nil for none. Without an organization too, the subject is empty.
    public var commonName: String?
    /// The subject's organization; nil for none.
    public var organization: String?
    /// `DNS:…`, `IP:…`, `email:…`, `URI:…`. An empty list makes no extension.
    public var alternativeNames: [String] = []
    /// When the lifetime begins: 1 January 2020 unless changed.
    public var notBefore = TestDate.unix(1_577_836_800)
    /// When the lifetime ends: 1 January 2049 unless changed.
    public var notAfter = TestDate.unix(2_493_072_000)
    /// Whether the certificate claims to be an authority.
    public var authority = Authority.no
    /// keyUsage, such as `critical,digitalSignature`; nil for no extension.
    public var keyUsage: String?
    /// extendedKeyUsage, such as `serverAuth`; nil for no extension.
    public var extendedKeyUsage: String?
    /// nameConstraints, such as `permitted;DNS:.a.test`; nil for no extension.
    public var nameConstraints: String?
    /// Whether the certificate states its key's identifier.
    public var hasSubjectKeyIdentifier = true
    /// Whether the certificate states its issuer's key's identifier.
    public var hasAuthorityKeyIdentifier = true
    /// Further extensions, in this order.
    public var extensions: [RawExtension] = []
    /// The digest that is signed.
    public var digest = TestDigest.sha256
    /// The serial number.
    public var serial: UInt64 = 1

    /// A certificate that is not an authority and has no key usages.
    public init(commonName: String? = nil, alternativeNames: [String] = []) {
        self.commonName = commonName
        self.alternativeNames = alternativeNames
    }

    /// A server's certificate for these names, each `DNS:…` or `IP:…`. The first name is the common name.
    public static func server(_ names: [String]) -> CertificateBuilder {
        var builder = CertificateBuilder(alternativeNames: names)
        builder.commonName = names.first.map { String($0.drop { $0 != ":" }.dropFirst().prefix(64)) }
        builder.keyUsage = "critical,digitalSignature"
        builder.extendedKeyUsage = "serverAuth"
        return builder
    }

    /// A certificate for a client.
    public static func client(_ name: String) -> CertificateBuilder {
        var builder = CertificateBuilder(commonName: name)
        builder.keyUsage = "critical,digitalSignature"
        builder.extendedKeyUsage = "clientAuth"
        return builder
    }

    /// A certificate that may sign others.
    public static func authority(_ name: String, pathLength: Int? = nil) -> CertificateBuilder {
        var builder = CertificateBuilder(commonName: name)
        builder.authority = .yes(pathLength: pathLength)
        builder.keyUsage = "critical,keyCertSign,cRLSign"
        return builder
    }

    /// Signs with the key of the certificate itself.
    public func selfSigned(_ key: TestKey? = nil) throws(TestCertificateError) -> TestCertificate {
        let key = if let key { key } else { try TestKey() }
        return try make(key, issuer: nil, signer: key)
    }

    /// Signs with the issuer's key. If the issuer's certificate has another key, the signature is wrong.
    public func issued(by issuer: TestCertificate, key: TestKey? = nil) throws(TestCertificateError) -> TestCertificate
    {
        let key = if let key { key } else { try TestKey() }
        return try make(key, issuer: issuer, signer: issuer.key)
    }

    // MARK: Private

    private func make(
        _ key: TestKey,
        issuer: TestCertificate?,
        signer: TestKey
    ) throws(TestCertificateError) -> TestCertificate {
        let certificate = try unsafe checked(X509_new(), "certificate")
        defer { unsafe X509_free(certificate) }
        let parent: OpaquePointer
        if let issuer { unsafe parent = try issuer.handle() } else { unsafe parent = certificate }
        defer { if issuer != nil { unsafe X509_free(parent) } }
        try check(unsafe X509_set_version(certificate, 2), "version")
        try check(unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial), "serial number")
        try unsafe name(X509_get_subject_name(certificate))
        try check(unsafe X509_set_issuer_name(certificate, X509_get_subject_name(parent)), "issuer")
        try unsafe notBefore.set(X509_getm_notBefore(certificate))
        try unsafe notAfter.set(X509_getm_notAfter(certificate))
        try check(unsafe X509_set_pubkey(certificate, key.pointer), "public key")
        for (nid, value) in extensionValues(isSelfIssued: issuer == nil) {
            try unsafe add(nid, value, to: certificate, issuer: parent)
        }
        for one in extensions { try unsafe add(one, to: certificate) }
        try check(unsafe X509_sign(certificate, signer.pointer, signer.digest(digest)), "signature")
        return unsafe TestCertificate(der: try checked(encoded { unsafe i2d_X509(certificate, $0) }, "DER"), key: key)
    }

    private func name(_ name: OpaquePointer?) throws(TestCertificateError) {
        for (field, value) in [("O", organization), ("CN", commonName)] {
            guard let value else { continue }
            let bytes = Array(value.utf8)
            try check(
                unsafe X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, CInt(bytes.count), -1, 0),
                "name"
            )
        }
    }

    private func extensionValues(isSelfIssued: Bool) -> [(CInt, String)] {
        var values: [(CInt, String)] = []
        switch authority {
        case .unstated: break
        case .no: values.append((NID_basic_constraints, "critical,CA:FALSE"))
        case .yes(let length):
            values.append((NID_basic_constraints, "critical,CA:TRUE" + (length.map { ",pathlen:\($0)" } ?? "")))
        }
        if let keyUsage { values.append((NID_key_usage, keyUsage)) }
        if let extendedKeyUsage { values.append((NID_ext_key_usage, extendedKeyUsage)) }
        if let nameConstraints { values.append((NID_name_constraints, nameConstraints)) }
        if !alternativeNames.isEmpty {
            values.append((NID_subject_alt_name, alternativeNames.joined(separator: ",")))
        }
        if hasSubjectKeyIdentifier { values.append((NID_subject_key_identifier, "hash")) }
        if hasAuthorityKeyIdentifier, !isSelfIssued { values.append((NID_authority_key_identifier, "keyid")) }
        return values
    }

    private func add(
        _ nid: CInt,
        _ value: String,
        to certificate: OpaquePointer,
        issuer: OpaquePointer
    ) throws(TestCertificateError) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        // OpenSSL makes no extension for an issuer without a key identifier, and none is needed.
        guard let made = unsafe X509V3_EXT_nconf_nid(nil, &context, nid, value) else {
            if nid == NID_authority_key_identifier { return ERR_clear_error() }
            throw TestCertificateError(what: "extension \(value)")
        }
        defer { unsafe X509_EXTENSION_free(made) }
        try check(unsafe X509_add_ext(certificate, made, -1), "extension \(value)")
    }

    private func add(_ raw: RawExtension, to certificate: OpaquePointer) throws(TestCertificateError) {
        let object = try unsafe checked(OBJ_txt2obj(raw.oid, 1), "identifier \(raw.oid)")
        defer { unsafe ASN1_OBJECT_free(object) }
        let value = try unsafe checked(ASN1_OCTET_STRING_new(), "octets")
        defer { unsafe ASN1_OCTET_STRING_free(value) }
        try check(unsafe ASN1_OCTET_STRING_set(value, raw.value, CInt(raw.value.count)), "octets")
        let made = try unsafe checked(
            unsafe X509_EXTENSION_create_by_OBJ(nil, object, raw.isCritical ? 1 : 0, value),
            "extension \(raw.oid)"
        )
        defer { unsafe X509_EXTENSION_free(made) }
        try check(unsafe X509_add_ext(certificate, made, -1), "extension \(raw.oid)")
    }
}

/// A date in a certificate.
public enum TestDate: Sendable, Hashable {
    /// Seconds since 1970, written by RFC 5280 §4.1.2.5: UTCTime until 2049, GeneralizedTime from 2050.
    case unix(Int64)
    /// Exactly these characters, as a UTCTime (tag 23), valid or not.
    case utc(String)
    /// Exactly these characters, as a GeneralizedTime (tag 24), valid or not.
    case generalized(String)

    func set(_ field: UnsafeMutablePointer<ASN1_TIME>?) throws(TestCertificateError) {
        switch self {
        case .unix(let seconds):
            _ = try unsafe checked(ASN1_TIME_set(field, time_t(seconds)), "date")
        case .utc(let text): try unsafe set(text, V_ASN1_UTCTIME, field)
        case .generalized(let text): try unsafe set(text, V_ASN1_GENERALIZEDTIME, field)
        }
    }

    private func set(
        _ text: String,
        _ kind: CInt,
        _ field: UnsafeMutablePointer<ASN1_TIME>?
    ) throws(TestCertificateError) {
        let field = try unsafe checked(field, "date")
        let bytes = Array(text.utf8)
        try check(unsafe ASN1_STRING_set(field, bytes, CInt(bytes.count)), "date \(text)")
        unsafe field.pointee.type = kind
    }
}
