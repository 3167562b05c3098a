internal import CUncurlOpenSSL

/// What a certificate says, in a form for people and for trust decisions.
public struct CertificateFacts: Sendable, Hashable {
    /// The subject's name in the form of RFC 4514, in UTF-8, with control characters escaped.
    public let subject: String
    /// The name of the authority that issued the certificate, in the same form.
    public let issuer: String
    /// The alternative names that the certificate is for, in order.
    public let alternativeNames: [AlternativeName]
    /// The beginning of the validity. Nil if the date cannot be read.
    public let notBefore: CertificateDate?
    /// The end of the validity. Nil if the date cannot be read.
    public let notAfter: CertificateDate?
    /// The serial number in hexadecimal digits, as the certificate contains it.
    public let serialNumber: String
    /// OpenSSL's name of the key's type: `RSA`, `EC`, `ED25519`. Empty if the key cannot be read.
    public let keyType: String
    /// The key's size in bits. 0 if the key cannot be read.
    public let keyBits: Int
    /// OpenSSL's name of the signature's algorithm: `ecdsa-with-SHA256`.
    public let signatureAlgorithm: String
    /// Whether the basicConstraints make it an authority.
    public let isAuthority: Bool
    /// The SHA-256 digest of the whole certificate.
    public let sha256: [UInt8]
    /// The SHA-256 digest of the SubjectPublicKeyInfo, which ``Pin`` compares.
    public let spkiSHA256: [UInt8]

    /// Reads the facts of a certificate.
    public init(_ certificate: Certificate) { unsafe self.init(certificate.pointer) }

    init(_ certificate: OpaquePointer?) {
        unsafe subject = Self.text(X509_get_subject_name(certificate))
        unsafe issuer = Self.text(X509_get_issuer_name(certificate))
        unsafe alternativeNames = AlternativeName.all(of: certificate)
        unsafe notBefore = CertificateDate(X509_get0_notBefore(certificate))
        unsafe notAfter = CertificateDate(X509_get0_notAfter(certificate))
        unsafe serialNumber = bytes(of: X509_get0_serialNumber(certificate)).map { AddressText.hex($0) }.joined()
        let key = unsafe X509_get0_pubkey(certificate)
        unsafe keyType = key.flatMap { unsafe EVP_PKEY_get0_type_name($0) }.map { unsafe String(cString: $0) } ?? ""
        unsafe keyBits = key == nil ? 0 : Int(EVP_PKEY_get_bits(key))
        let algorithm = unsafe OBJ_nid2ln(X509_get_signature_nid(certificate))
        unsafe signatureAlgorithm = algorithm.map { unsafe String(cString: $0) } ?? ""
        unsafe isAuthority = X509_check_ca(certificate) == 1
        if let certificate = unsafe certificate {
            unsafe sha256 = VerifiedChain.digest(of: certificate)
            unsafe spkiSHA256 = VerifiedChain.keyDigest(of: certificate)
        } else {
            (sha256, spkiSHA256) = ([], [])
        }
    }

    /// Returns a name in the form of RFC 4514, the most specific part first. UTF-8 stays readable, and control
    /// characters do not reach a terminal.
    static func text(_ name: OpaquePointer?) -> String {
        guard let name = unsafe name, let bio = unsafe BIO_new(BIO_s_mem()) else { return "" }
        defer { unsafe BIO_free(bio) }
        let flags = uncurl_name_text_flags()
        guard unsafe X509_NAME_print_ex(bio, name, 0, flags) >= 0 else { return "" }
        var data: UnsafeMutablePointer<CChar>? = nil
        let count = unsafe uncurl_bio_data(bio, &data)
        guard let data = unsafe data, count > 0 else { return "" }
        return unsafe String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    }
}
