internal import CUncurlOpenSSL

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
        case .host(let name): AddressText.isAddress(name) ? "DNS:\(name)" : name
        case .address(let octets): AddressText.text(octets)
        case .mail(let text): "mail:\(text)"
        case .uri(let text): "URI:\(text)"
        case .other: "another kind of name"
        }
    }

    static func all(of certificate: OpaquePointer?) -> [AlternativeName] {
        let names = unsafe OpaquePointer(X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil))
        defer { unsafe GENERAL_NAMES_free(names) }
        return unsafe (0..<uncurl_name_count(names)).map { unsafe name(in: names, at: $0) }
    }

    /// Returns the DNS names, each as the octets that the certificate contains.
    static func hosts(of certificate: OpaquePointer?) -> [[UInt8]] {
        let names = unsafe OpaquePointer(X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil))
        defer { unsafe GENERAL_NAMES_free(names) }
        return unsafe (0..<uncurl_name_count(names)).compactMap { index in
            let (kind, octets) = unsafe entry(in: names, at: index)
            return kind == GEN_DNS ? octets : nil
        }
    }

    private static func entry(in names: OpaquePointer?, at index: CInt) -> (kind: CInt, octets: [UInt8]) {
        var data: UnsafePointer<UInt8>? = nil
        var count: CInt = 0
        let kind = unsafe uncurl_name_at(names, index, &data, &count)
        return unsafe (kind, Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : Int(max(0, count)))))
    }

    private static func name(in names: OpaquePointer?, at index: CInt) -> AlternativeName {
        let (kind, octets) = unsafe entry(in: names, at: index)
        switch kind {
        case GEN_DNS: return .host(visible(octets))
        case GEN_IPADD: return .address(octets)
        case GEN_EMAIL: return .mail(visible(octets))
        case GEN_URI: return .uri(visible(octets))
        default: return .other
        }
    }

    private static func visible(_ octets: [UInt8]) -> String {
        String(decoding: octets.map { 0x21...0x7E ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
