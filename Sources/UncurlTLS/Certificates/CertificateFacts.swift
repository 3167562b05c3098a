internal import CUncurlOpenSSL
import UncurlText

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
        unsafe serialNumber = hexText(bytes(of: X509_get0_serialNumber(certificate)))
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
        guard let name = unsafe name else { return "" }
        let text = unsafe withMemoryBIO { unsafe X509_NAME_print_ex($0, name, 0, uncurl_name_text_flags()) }
        return String(decoding: text ?? [], as: UTF8.self)
    }
}

/// A name in a certificate's subjectAltName (RFC 5280 §4.2.1.6).
public enum AlternativeName: Sendable, Hashable, CustomStringConvertible {
    /// A DNS name.
    case host(String)
    /// An IP address: 4 or 16 octets, if it is well-formed.
    case address([UInt8])
    /// A mail address.
    case mail(String)
    /// A URI.
    case uri(String)
    /// A directory name, an identifier, or another kind.
    case other

    /// The name as text for a log line. Anything but visible ASCII is replaced, since the peer chose it.
    public var description: String {
        switch self {
        // A host name with the form of an address proves no address: clients compare it with host names alone (RFC 9110
        // §4.3.4).
        case .host(let name): isAddress(name) ? "DNS:\(name)" : name
        case .address(let octets): Self.text(ofAddress: octets)
        case .mail(let text): "mail:\(text)"
        case .uri(let text): "URI:\(text)"
        case .other: "another kind of name"
        }
    }

    static func all(of certificate: OpaquePointer?) -> [AlternativeName] {
        unsafe entries(of: certificate).map { kind, octets in
            switch kind {
            case GEN_DNS: .host(visible(octets))
            case GEN_IPADD: .address(octets)
            case GEN_EMAIL: .mail(visible(octets))
            case GEN_URI: .uri(visible(octets))
            default: .other
            }
        }
    }

    /// Returns the DNS names, each as the octets that the certificate contains.
    static func hosts(of certificate: OpaquePointer?) -> [[UInt8]] {
        unsafe entries(of: certificate).compactMap { kind, octets in kind == GEN_DNS ? octets : nil }
    }

    private static func entries(of certificate: OpaquePointer?) -> [(kind: CInt, octets: [UInt8])] {
        let names = unsafe OpaquePointer(X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil))
        defer { unsafe GENERAL_NAMES_free(names) }
        return unsafe (0..<uncurl_name_count(names)).map { index in
            var data: UnsafePointer<UInt8>? = nil
            var count: CInt = 0
            let kind = unsafe uncurl_name_at(names, index, &data, &count)
            return unsafe (kind, Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : Int(max(0, count)))))
        }
    }

    /// Returns the text of RFC 5952: lower case, without the longest run of two or more zero groups.
    static func text(ofAddress octets: [UInt8]) -> String {
        if octets.count == 4 { return octets.map { String($0) }.joined(separator: ".") }
        guard octets.count == 16 else { return hexText(octets) }
        let groups = (0..<8).map { index -> UInt16 in UInt16(octets[index * 2]) << 8 | UInt16(octets[index * 2 + 1]) }
        var best = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > max(best.count, 1) { best = start..<index }
            start = index + 1
        }
        let texts = groups.map { String($0, radix: 16) }
        if best.isEmpty { return texts.joined(separator: ":") }
        return texts[..<best.lowerBound].joined(separator: ":") + "::"
            + texts[best.upperBound...].joined(separator: ":")
    }

    private static func visible(_ octets: [UInt8]) -> String {
        String(decoding: octets.map { 0x21...0x7E ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}

/// A date of a certificate, to the second, in UTC. Its text form is `2026-11-21 12:00:00Z`.
public struct CertificateDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The seconds since 1970 without leap seconds, as POSIX counts them.
    public let secondsSince1970: Int64

    /// Makes a date from its seconds since 1970, without leap seconds.
    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// Reads a UTCTime or a GeneralizedTime in the form of RFC 5280 §4.1.2.5. Returns nil for any other value.
    init?(_ time: UnsafePointer<ASN1_TIME>?) {
        var parts = unsafe tm()
        guard let time = unsafe time, unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        unsafe secondsSince1970 = Int64(timegm(&parts))
    }

    static var now: CertificateDate { CertificateDate(secondsSince1970: Int64(time(nil))) }

    public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

    public var description: String {
        var (seconds, parts) = unsafe (time_t(secondsSince1970), tm())
        // A tm has no year beyond 2^31, and a certificate's date none beyond 9999.
        guard unsafe gmtime_r(&seconds, &parts) != nil else { return "\(secondsSince1970) s after 1970" }
        let two = { (value: CInt) in value < 10 ? "0\(value)" : "\(value)" }
        let date = unsafe "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe "\(date) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
