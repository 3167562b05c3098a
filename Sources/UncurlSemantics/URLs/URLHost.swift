internal import UncurlText

/// A host as a URL may name it: a registered name that DNS can carry, or a numeric address.
///
/// This is the one rule for hosts: ``Origin`` and ``HTTPURL`` accept what it accepts, so that the host that is shown is
/// the host that is used.
public struct URLHost: Hashable, Sendable {
    /// The host for the resolver, in the one spelling that equal hosts share: a name in lower case (RFC 3986 §6.2.2.1),
    /// or an address, IPv6 without brackets. A name's trailing dot is kept: it is another name to the resolver's search
    /// list. An address has a zone only if the caller named one; a URL cannot (RFC 9110 §4.2.1 has no zones).
    package let bare: String
    /// Whether it is an IPv4 address in four decimal parts, or an IPv6 address.
    public let isAddress: Bool

    /// This machine (RFC 6761 §6.3).
    package static let localhost = URLHost(bare: "localhost", isAddress: false)

    private init(bare: String, isAddress: Bool) { (self.bare, self.isAddress) = (bare, isAddress) }

    /// The fault of a host. Offsets are octets from its start, from 0.
    public enum Problem: Error, Hashable, Sendable {
        /// The host has no characters.
        case empty
        /// A character that no host may have.
        case character(Unicode.Scalar, at: Int)
        /// A label is empty or has more than 63 octets, or the name has more than 253 (RFC 1035 §2.3.4).
        case length
        /// The last label is a number and the whole is no IPv4 address of four parts: `127.1`, `0x7f.1` and `010.0.0.1`
        /// mean different hosts to different programs.
        case number
        /// The text has brackets or colons, and is no IPv6 address.
        case ipv6Literal
        /// A URL's IPv6 address has a zone (RFC 4007 §11). It means something on this machine only, so that neither a
        /// Host field nor a cookie's domain can hold it, and RFC 9110 §4.2.1 has none.
        case zone
    }

    /// - Parameter text: IPv6 with or without its brackets. Nothing is decoded: a percent sign is refused outside a
    ///   zone (RFC 4007 §11), and so is anything that is not ASCII.
    public init(_ text: String) throws(Problem) {
        let octets = text.utf8
        if octets.first == UInt8(ascii: "[") || octets.contains(UInt8(ascii: ":")) {
            let isBracketed = octets.first == UInt8(ascii: "[") && octets.last == UInt8(ascii: "]")
            let bare = isBracketed ? String(Substring(octets.dropFirst().dropLast())) : text
            guard let (high, low, scope) = ipv6Parts(bare) else { throw .ipv6Literal }
            (self.bare, isAddress) = (ipText(v6: high, low, scope: scope), true)
        } else if let bits = ipv4Bits(text) {
            (bare, isAddress) = (ipText(v4: bits), true)
        } else {
            (bare, isAddress) = (try URLHost.name(text), false)
        }
    }

    /// Checks a name (RFC 1123 §2.1), with the underscore that names of services have. This is a part of RFC 3986's
    /// reg-name, whose other characters no host has, but other parsers take for ends of the host.
    private static func name(_ text: String) throws(Problem) -> String {
        var offset = 0
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_": offset += 1
            default: throw .character(scalar, at: offset)
            }
        }
        guard !text.isEmpty else { throw .empty }
        let name = text.lowercased()
        let bare = name.hasSuffix(".") ? name.dropLast() : name[...]
        let labels = bare.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard bare.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.count) }) else { throw .length }
        guard !endsInNumber(bare) else { throw .number }
        return name
    }
}

extension URLHost: CustomStringConvertible {
    /// The host as it is in a URL: IPv6 in brackets, without its zone (RFC 6874 §4).
    public var description: String { bare.utf8.contains(UInt8(ascii: ":")) ? "[\(bare.prefix { $0 != "%" })]" : bare }
}

extension URLHost.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "there is no host"
        case .character(let scalar, let offset):
            "a host cannot hold U+\(URLHost.Problem.hex(scalar)) (octet \(offset) of the host)"
        case .length: "a label of the host does not have 1 to 63 octets, or the host more than 253"
        case .number: "the host ends in a number and is no IPv4 address of four parts"
        case .ipv6Literal: "the host has brackets or colons, and is no IPv6 address"
        case .zone: "a URL cannot hold an address's zone; connect to the address with its zone instead"
        }
    }

    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
