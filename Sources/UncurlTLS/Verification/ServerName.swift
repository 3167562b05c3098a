internal import CUncurlOpenSSL
internal import UncurlText

/// The server that a client means to reach: the name that the certificate must contain, and the one that SNI sends.
///
/// One trailing dot is removed for both, since no certificate contains it. A leading dot is refused: OpenSSL would read
/// ".a.example" as "any name below". Addresses are checked as addresses and never sent in SNI (RFC 6066 §3).
public struct ServerName: Hashable, Sendable, CustomStringConvertible {
    /// The name in lower case, without a trailing dot or brackets.
    public let text: String
    /// Whether it is an IP address, which a certificate must name as one (RFC 9110 §4.3.5).
    public let isAddress: Bool

    /// The longest name of RFC 1035 §2.3.4, without the trailing dot.
    static let lengthLimit = 253

    /// Checks a host.
    ///
    /// - Parameter host: A host in a URL's form: a name in A-labels, an IPv4 address, an IPv6 address with or without
    ///   brackets.
    public init(_ host: String) throws(TLSError) {
        var bytes = host.utf8[...]
        let isBracketed = bytes.first == UInt8(ascii: "[") && bytes.last == UInt8(ascii: "]")
        if isBracketed { bytes = bytes.dropFirst().dropLast() }
        if bytes.last == UInt8(ascii: ".") { bytes = bytes.dropLast() }
        guard !bytes.isEmpty, bytes.count <= ServerName.lengthLimit, bytes.first != UInt8(ascii: "."),
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .invalidServerName(host) }
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        self.text = text
        isAddress = UncurlTLS.isAddress(text)
        // A character that no address has belongs to no name either: a zone, a port, a path.
        let isBareName = !isBracketed && ServerName.isName(bytes)
        guard isAddress || isBareName else { throw .invalidServerName(host) }
    }

    /// Returns whether the labels have 1 to 63 octets (RFC 1035 §2.3.4). A text whose last label is a number is meant
    /// as an IPv4 address, and is none.
    private static func isName(_ bytes: Substring.UTF8View) -> Bool {
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isNumber = labels.last?.allSatisfy { 0x30...0x39 ~= $0 } ?? true
        return !isNumber && hasNameLabels(labels)
    }

    /// The name that SNI sends. Nil for an address.
    public var indication: String? { isAddress ? nil : text }

    public var description: String { text }

    /// Returns whether a certificate has a DNS name of this server.
    func isNamed(in certificate: OpaquePointer?) -> Bool {
        unsafe AlternativeName.hosts(of: certificate).contains { isNamed(by: $0) }
    }

    /// Returns whether a DNS name of a certificate names this server (RFC 9525 §6.3), without regard to case. A
    /// wildcard stands for exactly one label, whatever that label is, and has two labels behind it at least.
    func isNamed(by presented: [UInt8]) -> Bool {
        guard !isAddress else { return false }
        let presented = presented.map(\.lowercasedASCII)
        guard presented.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) else {
            return presented.elementsEqual(text.utf8)
        }
        let parent = text.utf8.drop { $0 != UInt8(ascii: ".") }
        return parent.dropFirst().contains(UInt8(ascii: ".")) && parent.elementsEqual(presented.dropFirst())
    }

}
