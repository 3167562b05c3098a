internal import CUncurlLinux

/// An IPv4 address, in host order.
public struct IPv4Address: Hashable, Sendable, CustomStringConvertible {
    /// The four octets; the first is the most significant.
    public var bits: UInt32

    /// Makes an address from its four octets, the first the most significant.
    public init(bits: UInt32) { self.bits = bits }

    /// 127.0.0.1.
    public static let loopback = IPv4Address(bits: 0x7F00_0001)
    /// 0.0.0.0, for listening on all addresses.
    public static let any = IPv4Address(bits: 0)

    /// Whether it is in 127.0.0.0/8 (RFC 1122 §3.2.1.3).
    public var isLoopback: Bool { bits >> 24 == 127 }

    /// Reads exactly four decimal parts without leading zeros. `127.1`, `0x7f.1` and `010.0.0.1` mean different hosts
    /// to different programs, so they are no addresses here (RFC 3986 §3.2.2, §7.4).
    public init?(_ text: String) {
        var bits: UInt32 = 0
        var parts = 0
        for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...3).contains(part.count), part.allSatisfy({ (48...57).contains($0) }) else { return nil }
            guard part.count == 1 || part.first != 48 else { return nil }
            let value = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 48) }
            guard value <= 255 else { return nil }
            bits = bits << 8 | value
            parts += 1
        }
        guard parts == 4 else { return nil }
        self.bits = bits
    }

    public var description: String { "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)" }
}

/// An IPv6 address, in host order, with the scope (interface index) of a link-local one; 0 for none.
public struct IPv6Address: Hashable, Sendable, CustomStringConvertible {
    /// The first eight octets.
    public var high: UInt64
    /// The last eight octets.
    public var low: UInt64
    /// The interface's index for a link-local address; 0 for none (RFC 4007 §6).
    public var scope: UInt32

    /// Makes an address from its halves.
    public init(high: UInt64, low: UInt64, scope: UInt32 = 0) {
        self.high = high
        self.low = low
        self.scope = scope
    }

    /// ::1.
    public static let loopback = IPv6Address(high: 0, low: 1)
    /// ::, for listening on all addresses.
    public static let any = IPv6Address(high: 0, low: 0)

    /// Reads the text of RFC 4291 §2.2, with an optional `%interface` or `%index` (RFC 4007 §11).
    public init?(_ text: String) {
        // C would read `::1` from "::1\0.evil.test".
        guard !text.utf8.contains(0) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        var form = in6_addr()
        guard unsafe inet_pton(AF_INET6, parts[0], &form) == 1 else { return nil }
        (high, low) = unsafe withUnsafeBytes(of: form) { bytes in
            unsafe (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        scope = 0
        guard parts.count == 2 else { return }
        let isNumber = parts[1].utf8.allSatisfy { (48...57).contains($0) }
        scope = unsafe isNumber ? UInt32(parts[1]) ?? 0 : if_nametoindex(parts[1])
        guard scope != 0 else { return nil }
    }

    public var description: String {
        var form = in6_addr()
        unsafe withUnsafeMutableBytes(of: &form) { bytes in
            unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(AF_INET6, &form, &text, socklen_t(text.count)) != nil else { return "?" }
        let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return scope == 0 ? address : "\(address)%\(scope)"
    }
}

/// An address of either family, without a port: the result of a look-up.
public enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 address.
    case v4(IPv4Address)
    /// An IPv6 address.
    case v6(IPv6Address)

    /// The protocol of addresses.
    public enum Family: Hashable, Sendable {
        /// IPv4.
        case v4
        /// IPv6.
        case v6
    }

    /// The protocol of the address.
    public var family: Family {
        switch self {
        case .v4: .v4
        case .v6: .v6
        }
    }

    /// Reads a numeric address and nothing else; see the two families' initialisers for what is refused.
    public init?(_ text: String) {
        if let address = IPv4Address(text) {
            self = .v4(address)
        } else if let address = IPv6Address(text) {
            self = .v6(address)
        } else {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .v4(let address): address.description
        case .v6(let address): address.description
        }
    }
}
